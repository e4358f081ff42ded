"""Folders, archives, lists and several files: what belongs together is read together."""

import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.formats import zipped
from benchmarks.formats.registry import check_file, detect, together
from benchmarks.formats.trajectory import ImportedTrajectory
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.reading import read_whole


class TestInspect:
    def test_members_compressed_with_zstandard(self, tmp_path: Path) -> None:
        path = samples.zstd_archive(
            tmp_path / "log.eval", samples.log_members(samples.inspect_log())
        )
        with zipfile.ZipFile(path) as archive:
            assert {info.compress_type for info in archive.infolist()} == {93}
        assert detect(path) == "inspect"
        plain = read_whole(samples.write(tmp_path / "log.json", samples.inspect_log()), "inspect")
        assert read_whole(path, "inspect") == plain

    def test_a_killed_run_is_read_from_its_journal(self, tmp_path: Path) -> None:
        log = samples.inspect_log()
        del log["status"]
        path = samples.zstd_archive(
            tmp_path / "log.eval", samples.log_members(log, "_journal/start.json")
        )
        checked = check_file(path, "inspect")
        assert checked.header["status"] == "started" and checked.header["eval"]["task"] == "bags"
        assert read_whole(path, "inspect")[0].agent == "openai/some-model"

    def test_a_bomb_is_refused_while_it_is_unpacked(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(zipped, "LARGEST", 1 << 20)
        log = samples.log_members(samples.inspect_log())
        log["samples/q1_epoch_1.json"] = b'{"a": ' + b" " * (4 << 20) + b"1}"
        path = samples.zstd_archive(tmp_path / "log.eval", log, size=100)  # it claims to be small
        with pytest.raises(FileRefused, match="at most 1 MB"):
            check_file(path, "inspect")

    def test_damage_and_foreign_methods_are_refused(self, tmp_path: Path) -> None:
        path = samples.zstd_archive(
            tmp_path / "log.eval", samples.log_members(samples.inspect_log())
        )
        data = path.read_bytes()
        path.write_bytes(
            data.replace(struct.pack("<H", 93) + b"\0\0", struct.pack("<H", 98) + b"\0\0")
        )
        with pytest.raises(FileRefused, match="method 98"):
            check_file(path, "inspect")
        place = data.index(b"\x28\xb5\x2f\xfd", data.index(b"samples/")) + 30
        path.write_bytes(data[:place] + b"\xff\xff" + data[place + 2 :])
        with pytest.raises(FileRefused, match="a sound member"):
            check_file(path, "inspect")

    @pytest.mark.parametrize("wrap", ["json", "eval"])
    def test_events_give_messages_times_and_tokens(self, wrap: str, tmp_path: Path) -> None:
        log = samples.inspect_log()
        sample = log["samples"][0]
        pool = sample.pop("messages")
        written = {**pool.pop(), "id": "m9"}
        sample["events"] = [
            {"event": "model", "input": [], "input_refs": [[0, 1]], "output": {}},
            {"event": "state", "changes": []},
            {
                "event": "model",
                "timestamp": "2026-01-01T00:00:00Z",
                "input": [],
                "input_refs": [[0, 1], [2, 4]],
                "output": {
                    "choices": [{"message": written}],
                    "usage": {"input_tokens": 7, "output_tokens": 5},
                },
            },
        ]
        sample["events_data"] = {"messages": [pool[0], {"role": "user"}, *pool[1:]]}
        if wrap == "json":
            path = samples.write(tmp_path / "log.json", log)
        else:
            path = samples.zstd_archive(tmp_path / "log.eval", samples.log_members(log))
        (found,) = read_whole(path, "inspect")
        assert [m.speaker for m in found.messages] == ["user", "assistant", "tool", "assistant"]
        assert found.messages[0].text == "Where is my bag?", "an attachment, put back"
        last = found.messages[-1]
        assert (last.at, last.tokens_in, last.tokens_out) == ("2026-01-01T00:00:00Z", 7, 5)


class TestTau2:
    def folder(self, tmp_path: Path) -> Path:
        whole = samples.tau2()
        (one,) = whole.pop("simulations")
        folder = tmp_path / "experiment"
        (folder / "simulations").mkdir(parents=True)
        index = []
        for number in range(3):
            samples.write(folder / "simulations" / f"s{number}.json", {**one, "trial": number})
            index.append({"id": f"s{number}", "task_id": "t1"})
        samples.write(folder / "results.json", {**whole, "simulation_index": index})
        (folder / "notes.txt").write_text("not read")
        return folder

    def test_a_folder_its_results_and_its_archive_are_the_same(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path)
        archive = tmp_path / "all.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            for file in folder.rglob("*.json"):
                made.write(file, file.relative_to(tmp_path))
        checks = [check_file(p, "tau2") for p in (folder, folder / "results.json", archive)]
        assert {check.trajectories for check in checks} == {3}
        assert len({check.checksum for check in checks}) == 1
        assert detect(folder) == detect(archive) == "tau2"

    def test_another_simulation_is_another_import(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path)
        before = check_file(folder, "tau2").checksum
        one = {**samples.tau2()["simulations"][0], "trial": 9}
        samples.write(folder / "simulations" / "s0.json", one)
        assert check_file(folder / "results.json", "tau2").checksum != before

    def test_a_missing_simulation_is_named(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path)
        (folder / "simulations" / "s1.json").unlink()
        with pytest.raises(FileRefused, match=r"simulation_index\[1\].id: .* found the text 's1'"):
            check_file(folder, "tau2")

    def test_links_are_not_followed(self, tmp_path: Path) -> None:
        folder = self.folder(tmp_path)
        (tmp_path / "secret.json").write_text("{}")
        (folder / "simulations" / "s1.json").unlink()
        (folder / "simulations" / "s1.json").symlink_to(tmp_path / "secret.json")
        with pytest.raises(FileRefused, match="s1"):
            check_file(folder, "tau2")


class TestAtif:
    def parts(self) -> list[dict[str, Any]]:
        first, second = samples.atif(), samples.atif()
        second["session_id"] = "s-1-cont-1"
        second["steps"][0]["is_copied_context"] = second["steps"][1]["is_copied_context"] = True
        second["steps"][3]["message"] = "Still in Oslo."
        second["final_metrics"] = {"total_cost_usd": 0.05}
        second["subagent_trajectories"] = [{"trajectory_id": "child"}]
        first["continued_trajectory_ref"] = "b.json"
        return [first, second]

    def check(self, found: list[ImportedTrajectory]) -> None:
        (one,) = found
        said = [m.text for m in one.messages if m.speaker == "assistant"]
        assert said == ["I look.", "In Oslo.", "Still in Oslo."], "copied context is left out"
        assert one.task.id == "s-1" and one.scores["cost"] == 0.05
        (more,) = one.metadata["continuations"]
        assert more["subagent_trajectories"] == [{"trajectory_id": "child"}]

    def test_one_list_or_lines(self, tmp_path: Path) -> None:
        path = samples.write(tmp_path / "all.json", self.parts()[::-1])
        assert detect(path) == "atif"
        self.check(read_whole(path, "atif"))
        self.check(read_whole(samples.write_lines(tmp_path / "all.jsonl", self.parts()), "atif"))

    def test_several_files_and_a_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "runs"
        folder.mkdir()
        paths = [
            samples.write(folder / f"{name}.json", part)
            for name, part in zip("ab", self.parts(), strict=True)
        ]
        other = samples.write(tmp_path / "other.json", {**samples.atif(), "session_id": "s-2"})
        assert together([*paths, other], "atif") == [paths, [other]]
        assert together([*paths, other], "tau2") == [[path] for path in (*paths, other)]
        self.check(read_whole(paths[0], "atif", paths[1]))
        self.check(read_whole(folder, "atif"))

    def test_a_continuation_known_by_its_file_alone(self, tmp_path: Path) -> None:
        first, second = self.parts()
        second["session_id"] = "quite another"
        paths = [
            samples.write(tmp_path / "a.json", first),
            samples.write(tmp_path / "b.json", second),
        ]
        assert together(paths, "") == [paths]
        self.check(read_whole(paths[0], "atif", paths[1]))

    def test_a_part_left_out_is_refused(self, tmp_path: Path) -> None:
        first, second = self.parts()
        del first["continued_trajectory_ref"]
        second["session_id"] = "s-1-cont-2"
        with pytest.raises(FileRefused, match="none left out, found parts 0, 2"):
            check_file(samples.write(tmp_path / "all.json", [first, second]), "atif")

    def test_a_list_of_trajectories_that_do_not_belong_together(self, tmp_path: Path) -> None:
        rows = [{**samples.atif(), "session_id": f"s-{n}"} for n in range(3)]
        found = read_whole(samples.write(tmp_path / "all.json", rows), "atif")
        assert [one.task.id for one in found] == ["s-0", "s-1", "s-2"]

    def test_without_an_id_the_task_is_what_was_asked(self, tmp_path: Path) -> None:
        (one,) = read_whole(
            samples.write(tmp_path / "a.json", {**samples.atif(), "session_id": ""}), ""
        )
        assert len(one.task.id) == 32


class TestEvals:
    def lines(self) -> list[dict[str, Any]]:
        prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
        more = [
            *prompt,
            {"role": "assistant", "content": "4"},
            {"role": "user", "content": "Sure?"},
        ]
        rows = [
            ("a.1", "sampling", {"prompt": prompt, "sampled": ["4"]}),
            ("a.2", "sampling", {"prompt": "Capital of Norway?", "sampled": "Oslo"}),
            ("a.1", "sampling", {"prompt": more, "sampled": ["Yes."]}),
            ("a.1", "sampling", {"prompt": "Grade this.", "sampled": ["A"]}),
            ("a.1", "match", {"correct": True, "expected": "4", "picked": "4"}),
            ("a.2", "metrics", {"f1": 0.5, "note": "x"}),
        ]
        about = {"run_id": "r", "created_by": "", "created_at": "2026-01-01 00:00:00+00:00"}
        events = [
            {**about, "event_id": number, "sample_id": sample, "type": kind, "data": data}
            for number, (sample, kind, data) in enumerate(rows)
        ]
        spec = {"completion_fns": ["gpt-3.5"], "eval_name": "sums"}
        return [{"spec": spec}, *events, {"final_report": {"accuracy": 1.0}}]

    def test_samples_become_trajectories(self, tmp_path: Path) -> None:
        path = samples.write_lines(tmp_path / "events.jsonl", self.lines())
        assert detect(path) == "openai-chat"
        two, one = sorted(read_whole(path, "openai-chat"), key=lambda t: t.task.id, reverse=True)
        assert [m.text for m in one.messages] == ["Be brief.", "2+2?", "4", "Sure?", "Yes."]
        assert one.scores == {"reward": 1.0} and one.task.hidden == {"expected": "4"}
        assert one.agent == "gpt-3.5"
        assert [event["type"] for event in one.metadata["events"]] == ["sampling", "match"]
        assert two.scores == {"reward": None, "f1": 0.5} and two.undefined["reward"]
        assert check_file(path, "openai-chat").header["final_report"] == {"accuracy": 1.0}

    def test_faults_have_their_line(self, tmp_path: Path) -> None:
        lines = self.lines()
        lines[2]["data"] = "x"
        del lines[4]["sample_id"]
        with pytest.raises(FileRefused) as refused:
            check_file(samples.write_lines(tmp_path / "e.jsonl", lines), "openai-chat")
        assert [p.where.split(",")[1] for p in refused.value.problems] == [
            " line 5",
            " line 3",
            " line 3",
        ]
