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
    if (!hasFailed)
      news.textContent = 'Updates have stopped: the server does not answer, or wants you to log in. Reload the page.';
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
  if (news.dataset.news !== about || hasFailed) news.textContent = about;
  news.dataset.news = about;
  if (active?.isConnected || !section) return;
  const same = `a[href="${CSS.escape(active.getAttribute('href') ?? '')}"]`;
  document.getElementById(section)?.querySelector(same)?.focus({ preventScroll: true });
}

/** Replaces the children that differ, and moves none of the others; forms and buttons belong to the reader. */
function update(parent, next) {
  const keyOf = (child) => child.id || child.localName;
  const old = new Map([...parent.children].map((child) => [keyOf(child), child]));
  const shown = [...next.children].map((child) => {
    const known = old.get(keyOf(child));
    return known?.matches('form, button') || known?.isEqualNode(child) ? known : child;
  });
  for (const child of [...parent.children]) if (!shown.includes(child)) child.remove();
  for (const [index, child] of shown.entries()) {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  }
}
