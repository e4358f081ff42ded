// What was said on this page, what of it is stored, and what can be taken back. Every answer goes
// through the queue with an id and the version that was seen; other tabs of this browser are told.
(function () {
  "use strict";
  const BESIDE = ["comment", "flag", "evidence"];

  // Field names of the form: "safety.turn-3", "safety.turn-3:comment", ":comment".
  function place(field) {
    const end = field.lastIndexOf(":");
    const beside = end >= 0 && BESIDE.includes(field.slice(end + 1));
    const slot = beside ? field.slice(0, end) : field;
    const dot = slot.indexOf(".");
    return {
      slot,
      question: dot < 0 ? slot : slot.slice(0, dot),
      subject: dot < 0 ? "" : slot.slice(dot + 1),
      aspect: beside ? field.slice(end + 1) : "answer",
    };
  }
  function fieldOf({ question, subject, aspect }) {
    const slot = subject ? question + "." + subject : question;
    return aspect === "answer" ? slot : slot + ":" + aspect;
  }
  const said = ({ value, chosen, text }) => chosen ?? (text || (value ?? null));
  const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

  // wire(slot, said): an answer as the server takes it. show(field, said), refuse(field, reason,
  // code), submitted(next), changed(field, said, before) and tell(state, detail) are the page's.
  function makeSaving({ settings, wire, active, show, refuse, changed, submitted, elsewhere, tell, replaced }) {
    const here = settings.here;
    const places = new Map(Object.entries(settings.places));
    const stack = settings.edits.map((edit) => ({ id: edit.id, field: edit.slot, said: said(edit) }));
    const channel = window.BroadcastChannel ? new BroadcastChannel("planjury.desk." + settings.owner) : null;

    const version = (field) => (places.get(field) || { version: 0 }).version;
    const hold = (field, value, count) => places.set(field, { said: value, version: count });
    const pending = () => queue.all().filter((entry) => entry.here === here && entry.kind === "edit");
    const waits = (field, id) => pending().some((entry) => fieldOf(entry.edit) === field && entry.id !== id);

    function body(field, value) {
      const { slot, aspect } = place(field);
      if (aspect === "answer") return wire(slot, value);
      if (aspect === "evidence") return { chosen: value };
      return aspect === "flag" ? { value: value ? 1 : 0, text: value || "" } : { text: value || "" };
    }
    function record(field, edit) {
      cancel();
      const { question, subject, aspect } = place(field);
      queue.add({
        kind: "edit", id: edit.id, url: settings.answers, here, activeMs: active(),
        edit: Object.assign({ question, subject, aspect, at: new Date().toISOString() }, edit),
      });
    }
    const saidAt = (field) => (places.get(field) || { said: null }).said;
    function store(field, value) {
      const edit = { id: queue.makeId(), seen: version(field), ...body(field, value) };
      // Of several versions that have not been sent yet, only the last is worth sending.
      if (place(field).aspect !== "answer") for (const entry of pending()) if (entry.unsent && fieldOf(entry.edit) === field) queue.remove(entry);
      hold(field, value, version(field) + 1);
      record(field, edit);
      return edit.id;
    }
    // Answers and marks can be taken back; a text is changed where it is written.
    function give(field, value) {
      const { aspect } = place(field);
      const was = saidAt(field);
      const id = store(field, value);
      if (aspect === "answer") stack.push({ id, field, said: value });
      else if (aspect === "evidence") stack.push({ id, field, said: value, was });
    }
    function before(field) {
      const earlier = stack.filter((edit) => edit.field === field);
      return earlier.length ? earlier[earlier.length - 1].said : null;
    }
    // Takes back the last answer or mark; returns its field.
    function undo() {
      const last = stack.pop();
      if (!last) return null;
      if ("was" in last) {
        store(last.field, last.was || []);
        show(last.field, last.was);
        return last.field;
      }
      const seen = version(last.field);
      hold(last.field, before(last.field), seen + 1);
      show(last.field, before(last.field));
      record(last.field, { id: queue.makeId(), undoes: last.id, seen });
      return last.field;
    }
    // Marks that another tab has changed are not taken back from here: its own would go with them.
    const forgetMarks = (field) => {
      for (const edit of stack.filter((one) => one.field === field && "was" in one)) dropped(edit.id);
    };
    const dropped = (id) => {
      const at = stack.findIndex((edit) => edit.id === id);
      if (at >= 0) stack.splice(at, 1);
    };

    // --- Submitting ------------------------------------------------------------------------------
    const submissions = () => queue.all().filter((entry) => entry.kind === "submit" && entry.here === here);
    function cancel() {
      const waiting = submissions();
      for (const entry of waiting) queue.remove(entry);
      if (waiting.length) tell("cancelled");
    }
    function submit() {
      queue.add({ kind: "submit", url: settings.submit, here, activeMs: active() });
    }

    // --- What comes back -------------------------------------------------------------------------
    function settled(entry, result) {
      const field = fieldOf(result);
      if (!waits(field, entry.id)) {
        hold(field, said(result), result.version);
        show(field, said(result));
      }
      return field;
    }
    const queue = window.planjury.makeQueue({
      owner: settings.owner,
      tell,
      done(entry, result) {
        if (channel) channel.postMessage({ here: entry.here, kind: entry.kind, edit: entry.edit, result });
        if (entry.here !== here) return;
        if (entry.kind === "submit") {
          submitted(result.next);
          return;
        }
        const field = settled(entry, result);
        if (result.overtook !== null && result.overtook !== undefined) replaced(field, result.overtook);
      },
      refused(entry, reason, reply, code) {
        if (entry.here !== here) return;
        if (entry.kind === "edit") dropped(entry.id);
        refuse(entry.kind === "edit" ? fieldOf(entry.edit) : null, reason, code, reply.missing || []);
      },
    });
    if (channel) {
      channel.addEventListener("message", ({ data }) => {
        if (data.here !== here) return;
        if (data.kind === "submit") {
          if (!pending().length) elsewhere();
          return;
        }
        const field = fieldOf(data.result);
        // What the other tab has just removed from the storage may still be seen here.
        if (data.result.version <= version(field) || waits(field, data.result.id)) return;
        const old = saidAt(field);
        if (data.edit.undoes) dropped(data.edit.undoes);
        else if (data.result.aspect === "answer") stack.push({ id: data.edit.id, field, said: said(data.result) });
        else forgetMarks(field);
        hold(field, said(data.result), data.result.version);
        show(field, said(data.result));
        if (!same(old, said(data.result))) changed(field, said(data.result));
      });
    }

    // What an earlier visit could not send stands in the form again.
    for (const { edit, id } of pending()) {
      const field = fieldOf(edit);
      if (edit.undoes) {
        dropped(edit.undoes);
        hold(field, before(field), version(field) + 1);
      } else {
        if (edit.aspect === "answer" && !stack.some((one) => one.id === id)) stack.push({ id, field, said: said(edit) });
        hold(field, said(edit), version(field) + 1);
      }
      show(field, places.get(field).said);
    }

    return { places, give, undo, submit, submissions, canUndo: () => stack.length > 0 };
  }

  window.planjury = Object.assign(window.planjury || {}, { makeSaving, placeOf: place });
})();
