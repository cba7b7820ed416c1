// The page without this module is complete; with it, it changes by itself. It keeps nothing and asks only its own host.
const charge = document.getElementById('charge');
const spoken = document.getElementById('spoken');
const policy = globalThis.trustedTypes?.createPolicy('bursar', { createHTML: (text) => text });
const html = (text) => (policy ? policy.createHTML(text) : text);
const main = () => charge.querySelector('main');

function say(text) {
  if (text && spoken.textContent !== text) spoken.textContent = text;
}

// show replaces the changing part, and leaves the focus where it was.
function show(text) {
  const focus = document.activeElement?.id;
  const before = main().dataset.state;
  charge.innerHTML = html(text);
  if (main().dataset.state !== before) say(main().dataset.said);
  if (focus) document.getElementById(focus)?.focus();
  begin();
}

function begin() {
  for (const button of charge.querySelectorAll('button[data-copy]')) {
    button.hidden = !navigator.clipboard;
    button.onclick = async () => {
      const label = button.textContent;
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.done;
      say(button.dataset.done);
      setTimeout(() => (button.textContent = label), 2000);
    };
  }
  tick();
}

let left = Infinity;
function tick() {
  const clock = charge.querySelector('.clock');
  if (!clock) return;
  const seconds = Math.max(0, Math.ceil((Number(clock.dataset.until) - Date.now()) / 1000));
  const two = (n) => String(n).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  clock.textContent = (hours ? hours + ':' : '') + two(Math.floor(seconds / 60) % 60) + ':' + two(seconds % 60);
  if (left > 300 && seconds <= 300 && seconds > 60) say(clock.dataset.five);
  if (left > 60 && seconds <= 60 && seconds > 0) say(clock.dataset.last);
  left = seconds;
}
setInterval(tick, 1000);

// poll asks every five seconds where there is no stream.
async function poll() {
  if ('live' in main().dataset) {
    try {
      const headers = { 'If-None-Match': `"${main().dataset.key}"` };
      const answer = await fetch(charge.dataset.part, { headers });
      if (answer.status === 200) show(await answer.text());
    } catch {
      // the network is away; the next time it may be back
    }
    setTimeout(poll, 5000);
  }
}

function listen() {
  const stream = new EventSource(charge.dataset.events);
  stream.onmessage = (event) => {
    show(event.data);
    if (!('live' in main().dataset)) stream.close();
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) setTimeout(poll, 5000);
  };
}

begin();
if ('live' in main().dataset) listen();
