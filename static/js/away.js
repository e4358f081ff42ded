// The page that stands in for one that cannot be loaded: why, what is kept, and on as soon as it works.
(function () {
  "use strict";
  const page = document.querySelector("[data-away]");
  let going = false;
  const find = (name) => page.querySelector("[data-" + name + "]");
  const answers = () => Object.keys(localStorage).filter((key) => key.startsWith("planjury.answers.")).length;

  function show() {
    find("why").textContent = navigator.onLine
      ? "The server does not answer. Perhaps it is being started again."
      : "This device has no network.";
    let kept = null;
    try {
      kept = answers();
    } catch (error) {
      // A browser without storage cannot tell.
    }
    find("kept").hidden = !kept;
    find("none").hidden = kept !== 0;
    find("count").textContent = kept === 1 ? "1 answer is" : kept + " answers are";
  }
  async function look() {
    show();
    const reply = await fetch(page.dataset.away, { cache: "no-store" }).catch(() => null);
    if (!reply || !reply.ok || going) return;
    going = true;
    // Asked for by its own address, it stands in for nothing.
    if (location.pathname === page.dataset.away) location.replace("/");
    else location.reload();
  }
  find("now").addEventListener("click", look);
  window.addEventListener("online", look);
  window.addEventListener("offline", show);
  setInterval(look, 4000);
  show();
})();
