// The page shown when no other can be loaded: says why and what is unsent, and goes back when it can.
// It imports nothing: the service worker keeps this one file.
const page = document.querySelector("[data-away]");
let leaving = false;
const find = (name) => page.querySelector("[data-" + name + "]");
const answers = () => Object.keys(localStorage).filter((key) => key.startsWith("planjury.answers.")).length;

function show() {
  find("why").textContent = navigator.onLine
    ? "The server does not answer. It may be restarting."
    : "This device is offline.";
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
async function check() {
  show();
  const reply = await fetch(page.dataset.away, { cache: "no-store" }).catch(() => null);
  if (!reply || !reply.ok || leaving) return;
  leaving = true;
  // Opened by its own address, this page stands in for no other.
  if (location.pathname === page.dataset.away) location.replace("/");
  else location.reload();
}
find("now").addEventListener("click", check);
window.addEventListener("online", check);
window.addEventListener("offline", show);
setInterval(check, 4000);
show();
