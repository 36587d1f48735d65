'use strict';
// All text goes into the page by textContent: what a peer has written is never read as HTML.

const SVG = 'http://www.w3.org/2000/svg';
const byID = (id) => document.getElementById(id);

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function draw(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Sets a text where it is another one: a screen reader reads what changes. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes the children of a list those of `items`, and keeps those that stay, with their focus. */
function sync(list, items, key, create, update) {
  const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = null;
  for (const item of items) {
    const name = key(item);
    let child = known.get(name);
    known.delete(name);
    if (!child) {
      child = create(item);
      child.dataset.key = name;
    }
    const next = place ? place.nextSibling : list.firstChild;
    if (next !== child) list.insertBefore(child, next);
    place = child;
    update(child, item);
  }
  for (const child of known.values()) child.remove();
}

// Time.

function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

function precise(milliseconds) {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 60000 ? `${(milliseconds / 1000).toFixed(1)} s` : span(milliseconds);
}

const clockTime = (instant) => new Date(instant).toLocaleTimeString();
const dateTime = (instant) => new Date(instant).toLocaleString();

// The state, and what this page does.

let state = null;
/** How far the host's clock is ahead of this one. */
let ahead = 0;
let week = null;
const results = new Map();
const busy = new Set();
const now = () => Date.now() + ahead;
const stream = { status: 'new', lastID: null, since: null, retryAt: null, tries: 0, heard: 0, abort: null, done: null };
const isLive = () => stream.status === 'on';
const mayWrite = () => isLive() && state !== null && state.access === 'write';

let announcement = null;
/** Tells a screen reader; what comes within a moment comes together. */
function announce(text) {
  if (announcement) {
    if (announcement.texts.length < 5) announcement.texts.push(text);
    return;
  }
  announcement = { texts: [text] };
  setTimeout(() => {
    byID('announcer').textContent = announcement.texts.join('. ');
    announcement = null;
  }, 300);
}

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  let value = {};
  try { value = await response.json(); } catch { /* The status says it. */ }
  return { status: response.status, value };
}

/** Sends what a person has chosen, once, and shows what became of it. */
async function act(key, path, body, outcome) {
  if (busy.has(key)) return;
  busy.add(key);
  results.delete(key);
  render();
  try {
    const reply = await post(path, body);
    results.set(key, outcome(reply) || reply.value.error || `The host answered ${reply.status}.`);
    if (reply.status === 401) showLogin('The login is over.');
  } catch {
    results.set(key, 'The host cannot be reached: nothing was sent.');
  }
  busy.delete(key);
  announce(results.get(key));
  render();
}

// Words.

const linkWords = {
  up: ['good', '● Up'], silent: ['warn', '◐ Silent'], connecting: ['warn', '◌ Connecting'],
  waiting: ['bad', '○ Down'], suspended: ['warn', '◌ Waits for another link'],
  failed: ['bad', '✕ Given up'],
};
const agentWords = {
  running: ['good', '● Running'], waiting: ['warn', '◌ Waits'], pausing: ['bad', '○ Failed, begins again'], ending: ['warn', '◌ Ending'],
};
const reasons = {
  notRunning: 'it does not run yet', storeFails: 'its store cannot be used',
  storeSilent: 'its store does not answer', agentsPause: 'agents have failed and wait',
  agentsWait: 'agents wait for their machines',
};
const phases = {
  detect: 'detect', wait: 'wait', resolve: 'dial', dial: 'dial', banner: 'login', keyExchange: 'login',
  hostKey: 'login', authenticate: 'login', upgrade: 'login', openChannel: 'resume',
  execute: 'resume', stream: 'resume', close: 'resume',
};
const phaseNames = { detect: 'detect', wait: 'wait', dial: 'dial', login: 'log in', resume: 'resume' };

/** What a person hears of a link: not each dial of one that is down. */
function standing(link) {
  if (link.state === 'failed') return 'failed';
  return link.state === 'up' || link.state === 'silent' ? 'up' : 'down';
}

// Drawing.

function render() {
  const isLoggedIn = state !== null;
  byID('main').hidden = !isLoggedIn;
  byID('reader').hidden = !isLoggedIn;
  renderConnection();
  if (!isLoggedIn) return;
  // The number of its run is long, and its beginning tells runs apart.
  say(byID('host'), state.host ? state.host.name.replace(/\/([0-9a-f]{8})[0-9a-f]{24}$/, '/$1') : '');
  say(byID('reader-name'), state.access === 'write' ? state.reader : `${state.reader} (may read only)`);
  renderSummary();
  renderProblems();
  renderHostKeys();
  renderApprovals();
  renderLinks();
  renderAgents();
  renderOutages();
}

function renderSummary() {
  const summary = byID('summary');
  const host = state.host;
  if (!isLive()) {
    summary.className = 'bad';
    say(summary, '? Not known now');
  } else if (!host || host.health === 'degraded') {
    summary.className = 'warn';
    say(summary, `◐ Degraded${host && host.reason ? `: ${reasons[host.reason] || host.reason}` : ''}`);
  } else {
    summary.className = host.health === 'ready' ? 'good' : 'warn';
    say(summary, host.health === 'ready' ? '● Ready' : '◌ Shutting down');
  }
  const down = state.links.filter((link) => link.state !== 'up').length;
  const waiting = state.approvals.filter((approval) => approval.state === 'pending').length;
  const count = state.problems.length + state.hostKeys.length + waiting;
  document.title = `${isLive() ? '' : '? '}${count ? `(${count}) ` : ''}Agent host${down ? `, ${down} down` : ''}`;
}

function renderConnection() {
  const box = byID('connection');
  const isLost = stream.status === 'lost' || stream.status === 'again';
  document.body.classList.toggle('stale', state !== null && !isLive());
  byID('stale').hidden = state === null || isLive();
  if (!isLost) {
    box.replaceChildren();
    return;
  }
  let banner = box.firstChild;
  if (!banner) {
    banner = make('p', 'banner bad');
    banner.append(make('strong', '', `Connection to the host lost, since ${clockTime(stream.since)}.`));
    banner.append(' ');
    // Each second: not for a screen reader.
    const countdown = make('span', 'countdown');
    countdown.setAttribute('aria-hidden', 'true');
    banner.append(countdown, ' ');
    const button = make('button', 'small', 'Try now');
    button.type = 'button';
    button.addEventListener('click', retryNow);
    banner.append(button);
    box.append(banner);
  }
  const left = Math.max(0, Math.ceil((stream.retryAt - Date.now()) / 1000));
  say(banner.querySelector('.countdown'), stream.status === 'again' ? 'Trying now.' : `Trying again in ${left} s.`);
}

function count(name, number) {
  say(byID(`${name}-count`), number ? `(${number})` : '');
  byID(`${name}-empty`).hidden = number > 0;
}

function actionButton(key, title, style, name, action) {
  const button = make('button', style, title);
  button.type = 'button';
  button.setAttribute('aria-label', name);
  button.addEventListener('click', action);
  button.dataset.key = key;
  return button;
}

function card() {
  const item = make('li');
  item.append(
    make('h3'), make('p', 'what'), make('p', 'more muted'), make('div', 'fields'),
    make('div', 'actions'), make('p', 'result'));
  item.querySelector('.result').setAttribute('role', 'status');
  return item;
}

function part(item, name, text) {
  const element = item.querySelector(name);
  say(element, text || '');
  element.hidden = !text;
}

function renderProblems() {
  count('problems', state.problems.length);
  // A link is an error once it has been of no use for a while.
  const others = state.links.filter((link) => link.state !== 'up').map((link) => link.name);
  say(byID('problems-empty'), others.length ? `None yet. Not up: ${others.join(', ')}.` : 'None.');
  sync(byID('problems'), state.problems, (problem) => problem.id, card, (item, problem) => {
    item.className = problem.severity;
    // A link's row has how often it was tried.
    const isLink = state.links.some((link) => link.name === problem.source);
    const times = problem.count > 1 && !isLink ? ` (${problem.count} times)` : '';
    say(item.querySelector('h3'), `${problem.source ? `${problem.source}: ` : ''}${problem.title}${times}`);
    part(item, '.what', problem.message);
    const hint = problem.hint || '';
    part(item, '.more', problem.needsPerson ? `It waits for you. ${hint}` : hint);
    part(item, '.result', results.get(problem.id));
    const options = state.access === 'write' ? problem.options : [];
    sync(item.querySelector('.actions'), options, (option) => option.kind, (option) =>
      actionButton(option.kind, option.title, option.style, `${option.title}: ${problem.source || problem.title}`, () =>
        act(problem.id, `/api/problems/${encodeURIComponent(problem.id)}/choose`, { option: option.kind }, (reply) =>
          reply.status === 200 ? 'Done.' : reply.status === 409 ? 'This cannot be done now.' : null)),
    (button) => { button.disabled = !mayWrite() || busy.has(problem.id); });
  });
}

const hostKeyWords = {
  unknown: (host) => `${host} is not a known host`,
  otherTypes: (host) => `${host} is known by other keys`,
  changed: (host) => `The host key of ${host} has changed`,
};

function renderHostKeys() {
  count('host-keys', state.hostKeys.length);
  byID('host-keys-section').hidden = state.hostKeys.length === 0;
  sync(byID('host-keys'), state.hostKeys, (hostKey) => String(hostKey.number), card, (item, hostKey) => {
    const isNew = hostKey.finding === 'unknown';
    const key = `host-key ${hostKey.number}`;
    item.className = isNew ? 'pending' : 'error';
    say(item.querySelector('h3'), hostKeyWords[hostKey.finding](hostKey.host));
    part(item, '.what', `Its ${hostKey.keyType} key is ${hostKey.fingerprint}. Trust it only where the administrator of the machine names the same.`);
    const risk = isNew ? '' : 'The machine was set up anew, or the connection is intercepted. ';
    part(item, '.more', `It waits for you, since ${dateTime(hostKey.at)}. ${risk}${hostKey.detail || ''}`);
    part(item, '.result', results.get(key));
    const options = isNew ? [[true, 'Trust the key', 'primary'], [false, 'Refuse', 'secondary']]
      : [[false, 'Refuse', 'primary'], [true, 'Trust the new key', 'destructive']];
    sync(item.querySelector('.actions'), state.access === 'write' ? options : [], ([trusts]) => String(trusts),
      ([trusts, title, style]) => actionButton(trusts, title, style, `${title}: ${hostKey.host}`, () =>
        act(key, `/api/host-keys/${hostKey.number}/decide`, { trusts }, (reply) => reply.value.text)),
    (button) => { button.disabled = !mayWrite() || busy.has(key); });
  });
}

function field(approval, description) {
  const label = make('label', '', description.title + (description.isRequired ? ' (required)' : ''));
  let input;
  if (description.choices || description.kind === 'array') {
    input = make('select');
    input.multiple = description.kind === 'array';
    if (!input.multiple && !description.isRequired) input.append(make('option', '', ''));
    for (const choice of description.choices || []) input.append(make('option', '', choice));
  } else {
    input = make('input');
    input.type = { boolean: 'checkbox', number: 'number', integer: 'number' }[description.kind] || 'text';
    if (description.kind === 'number') input.step = 'any';
  }
  input.dataset.name = description.name;
  input.dataset.kind = description.kind;
  label.append(input);
  label.dataset.key = description.name;
  return label;
}

function values(item) {
  const found = {};
  for (const input of item.querySelectorAll('[data-name]')) {
    const { name, kind } = input.dataset;
    if (kind === 'boolean') found[name] = input.checked;
    else if (kind === 'array') found[name] = [...input.selectedOptions].map((option) => option.value);
    else if (input.value !== '') found[name] = kind === 'string' ? input.value : Number(input.value);
  }
  return found;
}

function renderApprovals() {
  const pending = state.approvals.filter((approval) => approval.state === 'pending');
  count('approvals', pending.length);
  const settled = state.approvals.filter((approval) => approval.state !== 'pending').reverse();
  const key = (approval) => `${approval.agent}#${approval.number}`;
  sync(byID('approvals'), [...pending, ...settled], key, card, (item, approval) => {
    const isPending = approval.state === 'pending';
    const name = key(approval);
    item.className = approval.state;
    say(item.querySelector('h3'), approval.title);
    part(item, '.what', isPending ? `Agent ${approval.agent} asks, since ${dateTime(approval.at)}`
      : `Agent ${approval.agent} asked at ${dateTime(approval.at)}`);
    part(item, '.more', '');
    // What this page has done itself, else what became of it.
    part(item, '.result', results.get(name) || approval.outcome);
    const writes = isPending && state.access === 'write';
    sync(item.querySelector('.fields'), writes ? approval.fields || [] : [], (description) => description.name,
      (description) => field(approval, description), () => {});
    const options = writes ? approval.options : [];
    sync(item.querySelector('.actions'), options, (option) => option.id, (option) =>
      actionButton(option.id, option.name, option.kind.startsWith('allow') ? 'primary' : 'secondary',
        `${option.name}: ${approval.title}`, () =>
          act(name, `/api/approvals/${encodeURIComponent(approval.agent)}/${approval.number}/decide`,
            { option: option.id, values: option.id === approval.formOption ? values(item) : {} },
            (reply) => reply.value.text)),
    (button) => { button.disabled = !mayWrite() || busy.has(name); });
  });
}

function row() {
  const item = make('li');
  for (const name of ['name', 'state', 'since', 'extra', 'detail']) item.append(make('span', name));
  return item;
}

function show(item, name, words, since, extra, detail) {
  say(item.querySelector('.name'), name);
  const element = item.querySelector('.state');
  element.className = `state ${isLive() ? words[0] : 'muted'}`;
  say(element, isLive() ? words[1] : `Was: ${words[1].slice(2)}`);
  say(item.querySelector('.since'), `for ${span((isLive() ? now() : stream.since + ahead) - since)}`);
  say(item.querySelector('.extra'), extra);
  say(item.querySelector('.detail'), detail);
}

/** When something comes next; a page that has lost its host does not know. */
function next(instant) {
  return isLive() ? `next try in ${span(instant - now() + 999)}` : `next try at ${clockTime(instant)}`;
}

function renderLinks() {
  const order = ['failed', 'waiting', 'suspended', 'connecting', 'silent', 'up'];
  const links = [...state.links].sort((left, right) =>
    order.indexOf(left.state) - order.indexOf(right.state) || left.name.localeCompare(right.name));
  count('links', links.length);
  sync(byID('links'), links, (link) => link.id, row, (item, link) => {
    const extra = link.roundTrip !== undefined && link.state === 'up' ? `round trip ${precise(link.roundTrip)}`
      : link.nextAt !== undefined ? next(link.nextAt)
      : link.silentSince !== undefined ? `silent for ${span(now() - link.silentSince)}`
      : link.phase ? phaseNames[phases[link.phase]] || link.phase
      : link.waitsFor ? `for ${link.waitsFor}` : '';
    const tries = link.attempts > 0 && link.state !== 'up' ? `Attempt ${link.attempts}. ` : '';
    show(item, link.name, linkWords[link.state], link.since, extra,
      link.problem ? `${tries}${link.problem.message}` : '');
  });
}

function renderAgents() {
  const agents = state.host ? state.host.agents : [];
  count('agents', agents.length);
  sync(byID('agents'), agents, (agent) => agent.name, row, (item, agent) => {
    const [tone, word] = agentWords[agent.state];
    show(item, agent.name, [tone, agent.waitsFor ? `${word} for ${agent.waitsFor}` : word], agent.since,
      agent.nextAt !== undefined ? next(agent.nextAt) : '', agent.problem ? agent.problem.message : '');
    let button = item.querySelector('button');
    if (!button && agent.hasScreen) {
      button = actionButton('screen', 'Screen', 'small', `Screen of ${agent.name}`, () => openScreen(agent.name));
      item.querySelector('.extra').after(button);
    }
    if (button) {
      button.hidden = !agent.hasScreen;
      button.disabled = !isLive();
    }
  });
  renderScreen();
}

// The screen of an agent.

/** What is looked at: one agent at a time. */
const screen = { agent: null, abort: null, request: null, frame: null, message: null, problem: null, isLost: false };
const plainColors = ['#2b2f36', '#e5656b', '#6fc26f', '#d9b65a', '#6c9fe8', '#c98ae0', '#5bc0c4', '#c9cdd3',
  '#7d858f', '#ff8a8f', '#93e093', '#f2d57e', '#93bdff', '#e2b0f5', '#86e0e3', '#ffffff'];

/** The first eight behind text: bright text is to be read on them. */
const darkColors = ['#0c0e11', '#a12c33', '#2a6e30', '#76590f', '#2b5ca8', '#83459b', '#1b6b70', '#c9cdd3'];

function color(word, plain) {
  if (word.startsWith('#')) return word;
  const number = Number(word);
  if (number < 16) return plain[number] || plainColors[number];
  if (number > 231) return `rgb(${Array(3).fill(8 + (number - 232) * 10)})`;
  const part = (step) => (step ? 55 + step * 40 : 0);
  const index = number - 16;
  return `rgb(${[part(Math.floor(index / 36)), part(Math.floor(index / 6) % 6), part(index % 6)]})`;
}

function drawRun(run) {
  const element = make('span', '', run.text);
  const look = run.look || [];
  const style = element.style;
  let front = run.foreground ? color(run.foreground, plainColors) : null;
  let back = run.background ? color(run.background, darkColors) : null;
  if (look.includes('inverse')) [front, back] = [back || '#14171b', front || '#e4e6e9'];
  if (front) style.color = front;
  if (back) style.backgroundColor = back;
  if (look.includes('bold')) style.fontWeight = 'bold';
  if (look.includes('faint')) style.opacity = 0.7;
  if (look.includes('italic')) style.fontStyle = 'italic';
  const lines = [look.includes('underlined') && 'underline', look.includes('struck') && 'line-through'].filter(Boolean);
  if (lines.length) style.textDecoration = lines.join(' ');
  // Whatever font a character comes from, what follows it has its place.
  style.width = `${run.columns}ch`;
  return element;
}

function drawFrame(frame) {
  const terminal = byID('terminal');
  terminal.style.setProperty('--columns', frame.columns);
  while (terminal.children.length > frame.rows) terminal.lastChild.remove();
  while (terminal.children.length < frame.rows) terminal.append(make('div'));
  for (const line of frame.lines) terminal.children[line.row].replaceChildren(...line.runs.map(drawRun));
  const old = terminal.querySelector('.cell');
  if (old) old.remove();
  if (frame.cursor) {
    const cell = make('span', 'cell');
    cell.setAttribute('aria-hidden', 'true');
    const cursor = make('span', 'cursor');
    cursor.style.left = `${frame.cursor.column}ch`;
    cell.append(cursor);
    terminal.children[frame.cursor.row].prepend(cell);
  }
}

function screenWords() {
  const { frame } = screen;
  if (screen.message) return `${screen.message}${frame ? ' This is how it was last.' : ''}`;
  if (screen.problem) return screen.problem;
  if (!isLive() || screen.isLost) return frame ? `Connection to the host lost: this is how it was at ${clockTime(frame.at)}.` : 'Connection to the host lost.';
  if (!frame || frame.standing === 'opening') return 'Waits for the machine.';
  if (frame.standing === 'interrupted') return `No link to the machine since ${clockTime(frame.at)}: this is how it was then.`;
  return `Live, ${frame.columns} × ${frame.rows}. Nothing can be typed here.`;
}

function renderScreen() {
  byID('screen').hidden = screen.agent === null;
  if (screen.agent === null) return;
  say(byID('screen-state'), screenWords());
  const isNow = isLive() && !screen.isLost && !screen.message && screen.frame && screen.frame.standing === 'live';
  byID('screen').classList.toggle('old', !isNow);
}

/** A request that was under way when the host was lost may never end, and is no news. */
function askForScreenAgain() {
  if (screen.request) screen.request.abort();
}

const screenEvents = {
  screen(value) {
    screen.frame = value;
    screen.isLost = false;
    drawFrame(value);
  },
  over(value) { screen.message = value.message; },
};

async function followScreen(agent, abort) {
  while (screen.abort === abort && !screen.message) {
    const request = new AbortController();
    screen.request = request;
    abort.signal.addEventListener('abort', () => request.abort(), { once: true });
    try {
      const response = await fetch(`/api/agents/${encodeURIComponent(agent)}/screen`, {
        credentials: 'same-origin', signal: request.signal, cache: 'no-store' });
      if (screen.abort === abort) screen.problem = null;
      if (response.ok) {
        await readBlocks(response, (block) => {
          if (screen.abort === abort && Object.hasOwn(screenEvents, block.name)) screenEvents[block.name](JSON.parse(block.data));
        }, () => { if (screen.abort === abort) renderScreen(); return screen.abort === abort; });
      } else if (response.status !== 401) {
        const value = await response.json().catch(() => ({}));
        const words = value.error || 'It cannot be seen.';
        if (screen.abort === abort) screen[response.status === 404 ? 'message' : 'problem'] = words;
      }
    } catch { /* It is lost. */ }
    if (screen.abort !== abort || screen.message) break;
    screen.isLost = true;
    renderScreen();
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  if (screen.abort === abort) renderScreen();
}

function openScreen(agent) {
  closeScreen();
  const abort = new AbortController();
  Object.assign(screen, { agent, abort, frame: null, message: null, problem: null, isLost: false });
  say(byID('screen-title'), `Screen of ${agent}`);
  byID('terminal').setAttribute('aria-label', `Screen of ${agent}`);
  renderScreen();
  byID('screen').scrollIntoView({ block: 'nearest' });
  byID('screen-title').focus();
  followScreen(agent, abort);
}

function closeScreen() {
  if (screen.abort) screen.abort.abort();
  Object.assign(screen, { agent: null, abort: null, request: null, frame: null, message: null, problem: null, isLost: false });
  byID('terminal').replaceChildren();
  renderScreen();
}

function renderOutages() {
  byID('outages-empty').hidden = state.outages.length > 0;
  sync(byID('outages'), state.outages.slice(0, 20), (outage) => outage.id, () => {
    const item = make('li');
    item.append(make('p', 'head'), draw('svg', { role: 'img', viewBox: '0 0 1000 20', preserveAspectRatio: 'none' }), make('p', 'muted'));
    return item;
  }, (item, outage) => {
    const sum = outage.phases.reduce((total, phase) => total + phase.duration, 0);
    const whole = Math.max(outage.end !== undefined ? outage.end - outage.start : sum, 1);
    const isDown = state.links.some((link) => link.name === outage.link && link.state !== 'up' && link.state !== 'silent');
    // A host that was killed in an outage does not know how it went on.
    const length = outage.end !== undefined ? precise(whole) : isDown ? 'not over' : 'its end is not known';
    say(item.querySelector('.head'), `${outage.link}, ${dateTime(outage.start)}: ${length}`);
    const parts = {};
    for (const phase of outage.phases) {
      const name = phases[phase.name] || 'resume';
      parts[name] = (parts[name] || 0) + phase.duration;
    }
    const words = Object.keys(phaseNames).filter((name) => parts[name])
      .map((name) => `${phaseNames[name]} ${precise(parts[name])}`).join(', ');
    say(item.querySelector('.muted'), words);
    const shape = `${whole} ${outage.phases.length}`;
    if (item.dataset.shape === shape) return;
    item.dataset.shape = shape;
    const picture = item.querySelector('svg');
    picture.setAttribute('aria-label', `Phases: ${words || 'none known'}`);
    picture.replaceChildren(draw('rect', { class: 'track', x: 0, y: 8, width: 1000, height: 4 }));
    let x = 0;
    for (const phase of outage.phases) {
      const width = (phase.duration / whole) * 1000;
      picture.append(draw('rect', { class: phases[phase.name] || 'resume', x, y: 0, width: Math.max(width, 1.5), height: 20 }));
      x += width;
    }
  });
}

const buckets = [
  ['under 0.1 s', 100], ['0.1 to 1 s', 1000], ['1 to 10 s', 10000], ['10 to 60 s', 60000],
  ['1 to 10 min', 600000], ['longer', Infinity],
];

function renderHistogram() {
  const counts = buckets.map(() => 0);
  for (const outage of week || []) {
    if (outage.end === undefined) continue;
    counts[buckets.findIndex(([, limit]) => outage.end - outage.start < limit)] += 1;
  }
  const most = Math.max(1, ...counts);
  sync(byID('histogram'), buckets.map(([name], index) => ({ name, count: counts[index] })), (bucket) => bucket.name, (bucket) => {
    const item = make('li');
    const picture = draw('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    picture.append(draw('rect', { class: 'track', x: 0, y: 4.5, width: 100, height: 1 }), draw('rect', { class: 'bar', x: 0, y: 0, height: 10, width: 0 }));
    item.append(make('span', '', bucket.name), picture, make('span', 'number'));
    return item;
  }, (item, bucket) => {
    item.querySelector('.bar').setAttribute('width', (bucket.count / most) * 100);
    // Before the store has answered none is not zero.
    say(item.querySelector('.number'), week ? String(bucket.count) : '…');
  });
}

let weekTimer = null;
function fetchWeekSoon() {
  if (weekTimer) return;
  weekTimer = setTimeout(async () => {
    weekTimer = null;
    try {
      const response = await fetch('/api/outages', { credentials: 'same-origin' });
      if (response.ok) week = await response.json();
      renderHistogram();
    } catch { /* The stream says that the host is gone. */ }
  }, 500);
}

// Events.

function replace(list, value, same) {
  const index = list.findIndex(same);
  if (index < 0) list.push(value);
  else list[index] = value;
}

const events = {
  state(value) {
    const old = state && state.epoch === value.epoch ? state : null;
    if (!old) results.clear();
    state = value;
    ahead = value.now - Date.now();
    byID('login').hidden = true;
    fetchWeekSoon();
  },
  host(value) { state.host = value; },
  link(value) {
    const old = state.links.find((link) => link.id === value.id);
    const [before, after] = [old ? standing(old) : 'down', standing(value)];
    if (before !== after) {
      // Its loss, whatever follows within a moment.
      const shown = before === 'up' && after === 'down' ? 'waiting' : value.state;
      announce(`${value.name}: ${linkWords[shown][1].slice(2)}`);
    }
    replace(state.links, value, (link) => link.id === value.id);
  },
  linkGone(value) { state.links = state.links.filter((link) => link.id !== value.id); },
  problems(value) {
    for (const problem of value) {
      if (!state.problems.some((old) => old.id === problem.id)) announce(`Error: ${problem.source || ''} ${problem.title}`);
    }
    state.problems = value;
  },
  hostKeys(value) {
    for (const hostKey of value) {
      if (!state.hostKeys.some((old) => old.number === hostKey.number)) announce(hostKeyWords[hostKey.finding](hostKey.host));
    }
    state.hostKeys = value;
  },
  approvals(value) {
    const old = state.approvals;
    for (const approval of value.approvals) {
      const isKnown = old.some((one) => one.agent === approval.agent && one.number === approval.number);
      if (!isKnown && approval.state === 'pending') announce(`${approval.agent} asks: ${approval.title}`);
    }
    state.approvals = [...old.filter((approval) => approval.agent !== value.agent), ...value.approvals]
      .sort((left, right) => left.at - right.at || left.number - right.number);
  },
  outage(value) {
    state.outages = [value, ...state.outages.filter((outage) => outage.id !== value.id)]
      .sort((left, right) => right.start - left.start).slice(0, 50);
    fetchWeekSoon();
  },
  missed(value) { announce(`${value.count} changes were missed`); },
  loggedOut() { showLogin('The login is over.'); },
};

function parse(block) {
  const event = { name: 'message', data: '', id: null };
  for (const line of block.split('\n')) {
    const [, field, value] = line.match(/^([^:]*):? ?(.*)$/);
    if (field === 'event') event.name = value;
    else if (field === 'data') event.data = value;
    else if (field === 'id') event.id = value;
  }
  return event;
}

/** Hands over the events of a response that have data, and calls `after` behind what came together; it says whether to go on. */
async function readBlocks(response, take, after) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split('\n\n');
    rest = blocks.pop();
    for (const block of blocks.map(parse)) if (block.data) take(block);
    if (!after()) break;
  }
  await reader.cancel();
}

function take({ name, data, id }) {
  if (!Object.hasOwn(events, name)) return;
  if (name !== 'state' && name !== 'missed' && name !== 'loggedOut' && !state) return;
  events[name](JSON.parse(data));
  if (id !== null) stream.lastID = id;
}

/** Reads the stream until it ends; true where it was one. */
async function readStream() {
  const abort = new AbortController();
  stream.abort = abort;
  const headers = stream.lastID && state ? { 'Last-Event-ID': stream.lastID } : {};
  stream.heard = Date.now();
  const response = await fetch('/api/events', { credentials: 'same-origin', headers, signal: abort.signal, cache: 'no-store' });
  if (response.status === 401) {
    showLogin(stream.status === 'new' ? '' : 'The login is over.');
    return;
  }
  if (!response.ok) {
    const value = await response.json().catch(() => ({}));
    announce(value.error || '');
    return;
  }
  await readBlocks(response, take, () => {
    stream.heard = Date.now();
    if (stream.status === 'off') return false;
    if (state && stream.status !== 'on') {
      if (stream.since) {
        announce('Connection to the host is back');
        askForScreenAgain();
      }
      Object.assign(stream, { status: 'on', since: null, tries: 0 });
    }
    render();
    return true;
  });
}

let wake = null;
function retryNow() {
  stream.retryAt = Date.now();
  if (wake) wake();
}

async function follow() {
  stream.status = 'new';
  while (stream.status !== 'off') {
    try { await readStream(); } catch { /* It is lost. */ }
    if (stream.status === 'off') break;
    if (!stream.since) stream.since = stream.heard || Date.now();
    stream.status = 'lost';
    stream.tries += 1;
    askForScreenAgain();
    const wait = Math.min(15000, 500 * 2 ** Math.min(stream.tries, 6)) * (0.75 + Math.random() / 2);
    stream.retryAt = Date.now() + wait;
    render();
    await new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, wait);
    });
    wake = null;
    if (stream.status === 'off') break;
    stream.status = 'again';
    render();
  }
}

/** A stream that says nothing is none: the host gives a sign of life each ten seconds. */
function watch() {
  if (stream.status === 'on' && Date.now() - stream.heard > 25000) stream.abort.abort();
  if (state) render();
  else renderConnection();
}

function comeBack() {
  if (document.hidden) return;
  if (stream.status === 'on' && Date.now() - stream.heard > 12000) stream.abort.abort();
  retryNow();
}

// The login.

function showLogin(problem) {
  stream.status = 'off';
  stream.lastID = null;
  stream.since = null;
  state = null;
  if (stream.abort) stream.abort.abort();
  if (wake) wake();
  results.clear();
  closeScreen();
  for (const list of document.querySelectorAll('main ul')) list.replaceChildren();
  for (const name of ['host', 'summary', 'announcer']) say(byID(name), '');
  document.title = 'Agent host';
  byID('login').hidden = false;
  say(byID('login-problem'), problem);
  render();
}

async function logIn(token) {
  try {
    const reply = await post('/login', { token });
    if (reply.status !== 200) return showLogin(reply.value.error || `The host answered ${reply.status}.`);
  } catch {
    return showLogin('The host cannot be reached.');
  }
  byID('login').hidden = true;
  say(byID('login-problem'), '');
  begin();
}

async function begin() {
  const check = await fetch('/api/state', { credentials: 'same-origin' }).catch(() => null);
  if (check && check.status === 401) {
    return showLogin('The browser has not kept the cookie of the login: open the page by https or as localhost, in another browser.');
  }
  // One stream at a time.
  await stream.done;
  stream.done = follow();
}

document.addEventListener('DOMContentLoaded', () => {
  byID('login').addEventListener('submit', (event) => {
    event.preventDefault();
    const input = byID('token');
    const token = input.value.trim();
    input.value = '';
    logIn(token);
  });
  byID('logout').addEventListener('click', async () => {
    await post('/logout', {}).catch(() => null);
    showLogin('Logged out.');
  });
  byID('screen-close').addEventListener('click', () => {
    const { agent } = screen;
    closeScreen();
    // Back to where it was opened.
    for (const item of byID('agents').children) {
      if (item.dataset.key === agent && item.querySelector('button')) item.querySelector('button').focus();
    }
  });
  document.addEventListener('visibilitychange', comeBack);
  window.addEventListener('online', comeBack);
  window.addEventListener('pageshow', comeBack);
  setInterval(watch, 1000);
  renderHistogram();
  const token = location.hash.slice(1);
  if (token.length > 40) {
    // Not in the address, not in the history.
    history.replaceState(null, '', location.pathname);
    logIn(token);
  } else {
    stream.done = follow();
  }
});
