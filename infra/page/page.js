// Brings the page up to date every few seconds, without touching what has not changed.

const PAUSE_MS = 5000;

const news = document.getElementById('news');
const button = document.getElementById('pause');
let isPaused = false;
let hasFailed = false;

button.hidden = false;
button.addEventListener('click', () => {
  isPaused = !isPaused;
  button.textContent = isPaused ? 'Resume updates' : 'Pause updates';
  if (!isPaused) void refresh();
});
document.addEventListener('visibilitychange', refresh);
setInterval(refresh, PAUSE_MS);

async function refresh() {
  // Somebody who copies a message does not want it to go.
  if (isPaused || document.hidden || !getSelection().isCollapsed) return;
  try {
    const response = await fetch(location.href, { redirect: 'error', signal: AbortSignal.timeout(4 * PAUSE_MS) });
    if (!response.ok && response.status !== 404) throw new Error(`HTTP ${response.status}`);
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    hasFailed = false;
  } catch {
    if (!hasFailed) say('Updates have stopped: the server does not answer, or wants you to log in. Reload the page.');
    hasFailed = true;
  }
  document.body.classList.toggle('stopped', hasFailed);
}

function show(next) {
  const active = document.activeElement;
  const section = active?.closest('[id]')?.id;
  for (const place of ['header', 'main']) update(document.querySelector(place), next.querySelector(place));
  document.title = next.title;
  const about = next.getElementById('news').dataset.news;
  if (news.dataset.news !== about || hasFailed) say(about);
  news.dataset.news = about;
  if (active?.isConnected || !section) return;
  const same = `a[href="${CSS.escape(active.getAttribute('href') ?? '')}"]`;
  document.getElementById(section)?.querySelector(same)?.focus({ preventScroll: true });
}

/** Replaces the children that differ; forms and buttons belong to the reader. */
function update(parent, next) {
  const old = new Map([...parent.children].map((child) => [child.id || child.localName, child]));
  let last;
  for (const child of [...next.children]) {
    const known = old.get(child.id || child.localName);
    old.delete(child.id || child.localName);
    let shown = child;
    if (known === undefined) last === undefined ? parent.prepend(child) : last.after(child);
    else if (known.matches('form, button') || known.isEqualNode(child)) shown = known;
    else known.replaceWith(child);
    last = shown;
  }
  for (const gone of old.values()) gone.remove();
}

function say(text) {
  news.textContent = text;
}
