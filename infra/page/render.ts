import { html } from 'hono/html';
import { compareOrder, isUnderWay, type RolloutState } from '../../shared/gardener/rollout.ts';
import type { Counts, Line } from '../../shared/gardener/status-map.ts';
import { countsOf, type FleetShoot, states, wordOf } from '../fleet/fleet.ts';
import { ageOf } from '../fleet/print.ts';
import type { History } from './history.ts';
import { countsBy, type Facet, facets, noQuery, PAGE_ROWS, projectOf, type Query, seedsOf, selected } from './query.ts';
import type { Snapshot } from './summary.ts';

/** Text in which everything that is put in is escaped. */
export type Html = ReturnType<typeof html>;

/** Where things are: relative addresses, so that the page also works below a path, and as files. */
export interface Links {
  /** The list with filters; undefined where there is no such file. */
  list(query: Query): string | undefined;
  shoot(shoot: Pick<FleetShoot, 'namespace' | 'name'>): string | undefined;
  counts(facet: Facet, page: number): string;
  style: string;
  /** Undefined: nothing changes by itself. */
  script: string | undefined;
}

/** What every page knows. */
export interface View {
  snapshot: Snapshot;
  links: Links;
  now: Date;
  /** Who looks, where a proxy says so. */
  user?: string | undefined;
}

const symbols: Record<Line['state'], string> = { 'Not Ready': '✗', Progressing: '…', Hibernated: '☾', Ready: '✔' };

const stateMark = (state: Line['state']) =>
  html`<span class="state ${wordOf(state)}"><span aria-hidden="true">${symbols[state]}</span> <span class="word">${state}</span></span>`;

const link = (href: string | undefined, text: Html | string) =>
  href === undefined ? html`${text}` : html`<a href="${href}">${text}</a>`;

const age = (time: string | undefined, now: Date) =>
  time === undefined ? '' : html`<time datetime="${time}" title="${time}">${ageOf(time, now)}</time>`;

const moment = (time: string) => html`<time datetime="${time}">${time.replace('T', ' ').replace('Z', ' UTC')}</time>`;

const shootsText = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'Shoot' : 'Shoots'}`;

/** One sentence about all, also for those who hear the page. */
function news(shoots: readonly FleetShoot[]): string {
  const counts = countsOf(shoots);
  return `${counts['Not Ready']} not Ready, ${counts.Progressing} progressing of ${shootsText(counts.all)}`;
}

const MOST_SUSPENDED = 20;

function page(view: View, title: string, about: string, main: Html): Html {
  const { snapshot, links, user } = view;
  const suspended = Object.entries(snapshot.suspensions).slice(0, MOST_SUSPENDED);
  const time = snapshot.readAt.toISOString().replace(/\.\d+Z$/, 'Z');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${links.style}">
${links.script === undefined ? '' : html`<script type="module" src="${links.script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="home" href="${links.list(noQuery)}">Flux in all Shoots</a>
<p id="as-of">As of ${moment(time)}${user === undefined ? '' : html`, as ${user} sees it`}</p>
<button id="pause" type="button" hidden>Pause updates</button>
</header>
<main id="main" tabindex="-1">
<div id="notes">
${snapshot.isStale ? html`<p class="note" role="alert">The garden does not answer. This is what it said last.</p>` : ''}
${suspended.map(([namespace, text]) => html`<p class="note"><b>Project ${projectOf(namespace)} is suspended</b> ${text}</p>`)}
${snapshot.unseen.map((sentence) => html`<p class="note">${sentence}</p>`)}
</div>
${main}
</main>
<p id="news" class="unseen" role="status" data-news="${about}"></p>
</body>
</html>
`;
}

/** Renders the list of Shoots: counts, filters, one page of rows, and the counts of projects, seeds and releases. */
export function listPage(view: View, query: Query): Html {
  const { snapshot, links } = view;
  const rest = selected(snapshot.shoots, { ...query, state: '' });
  const shoots = selected(rest, query);
  const rows = shoots.slice((query.page - 1) * PAGE_ROWS, query.page * PAGE_ROWS);
  const heading = query.project === '' ? 'All Shoots' : `Project ${query.project}`;
  const below = [
    ...(query.project === '' ? rollouts(view, rest) : []),
    ...facets.flatMap((facet) => countsOfFacet(view, facet, rest)),
  ];
  const main = html`
<h1>${heading}</h1>
${stateLinks(view, query, countsOf(rest))}
${query.project === '' ? '' : rollout(view, query.project)}
${jumps(below)}
${links.script === undefined ? '' : filters(query, snapshot)}
<section id="shoots" aria-labelledby="shoots-heading">
<h2 id="shoots-heading">${query.state === '' ? 'Shoots, what is not Ready first' : query.state}</h2>
${shoots.length === 0 ? html`<p>${emptyText(snapshot.shoots.length)}</p>` : shootTable(view, rows)}
${pages(query.page, shoots.length, 'Shoots', (page) => links.list({ ...query, page }))}
</section>
${below.map(({ id, heading, content }) => html`<section id="${id}" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>${content}</section>`)}`;
  return page(view, `${news(rest)} – ${heading}`, news(rest), main);
}

const emptyText = (all: number) =>
  all === 0
    ? 'No Shoot has the extension shoot-flux yet. A Shoot appears here some seconds after it has got it.'
    : 'No Shoot matches these filters.';

function stateLinks({ links }: View, query: Query, counts: Counts): Html {
  const card = (state: Line['state'] | '', content: Html | string, count: number) => {
    const href = links.list({ ...query, state, page: 1 });
    const text = html`<b>${count.toLocaleString('en')}</b> ${content}`;
    const isCurrent = state === query.state;
    const current = isCurrent ? html` aria-current="page"` : '';
    return html`<li>${href === undefined ? html`<span>${text}</span>` : html`<a href="${href}"${current}>${text}</a>`}</li>`;
  };
  return html`<nav id="states" aria-label="States"><ul class="cards">
${card('', 'all', counts.all)}
${states.map((state) => card(state, stateMark(state), counts[state]))}
</ul></nav>`;
}

function filters(query: Query, { shoots }: Snapshot): Html {
  const option = (value: string, text: string, current: string) =>
    html`<option value="${value}"${value === current ? html` selected` : ''}>${text}</option>`;
  const releases = countsBy('flux', shoots)
    .map(([value]) => value)
    .slice(0, MOST_RELEASES)
    .sort();
  const input = (name: 'text' | 'project' | 'seed', label: string) =>
    html`<label>${label} <input name="${name}" value="${query[name]}" autocomplete="off" spellcheck="false"></label>`;
  return html`<form id="filters" role="search" aria-label="Filters" method="get">
<label>State <select name="state">${option('', 'all', query.state)}${states.map((state) => option(wordOf(state), state, query.state && wordOf(query.state)))}</select></label>
${input('project', 'Project')}
${input('seed', 'Seed')}
<label>Flux <select name="flux">${option('', 'all', query.flux)}${releases.map((value) => option(value, value, query.flux))}</select></label>
${input('text', 'Name or message')}
<button>Filter</button>
</form>`;
}

const MOST_RELEASES = 50;

function shootTable({ links, now }: View, shoots: readonly FleetShoot[]): Html {
  const row = (shoot: FleetShoot) => {
    const { namespace, state, since, flux = '', sentence = '' } = shoot;
    const project = projectOf(namespace);
    const seed = seedsOf(shoot).map((name, index) => [
      index > 0 ? ', ' : '',
      link(links.list({ ...noQuery, seed: name }), name),
    ]);
    return html`<tr><th scope="row">${link(links.shoot(shoot), shoot.name)}</th>
<td>${link(links.list({ ...noQuery, project }), project)}</td><td>${stateMark(state)}</td><td>${age(since, now)}</td><td>${flux}</td><td>${seed}</td><td class="sentence">${sentence}</td></tr>
`;
  };
  return html`<table class="stack shoots"><thead><tr>${['Shoot', 'Project', 'State', 'Since', 'Flux', 'Seed', 'What is wrong, and what to do'].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${shoots.map(row)}</tbody></table>`;
}

function pages(current: number, all: number, what: string, href: (page: number) => string | undefined): Html {
  const last = Math.max(1, Math.ceil(all / PAGE_ROWS));
  if (last === 1 && current === 1) return html``;
  const first = (current - 1) * PAGE_ROWS + 1;
  const range =
    first > all
      ? 'There is nothing on this page'
      : `${first.toLocaleString('en')} to ${Math.min(all, current * PAGE_ROWS).toLocaleString('en')} of ${all.toLocaleString('en')}`;
  const to = (target: number, text: string) =>
    href(target) === undefined ? '' : html`<a href="${href(target)}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages of ${what}">${current > 1 ? to(Math.min(last, current - 1), '← Previous') : ''} <span>${range}</span> ${current < last ? to(current + 1, 'Next →') : ''}</nav>`;
}

const facetNames: Record<Facet, string> = { project: 'project', seed: 'seed', flux: 'Flux version' };

/** So many lines of each are on the first page. */
const FIRST_ROWS = 10;

function countsOfFacet(view: View, facet: Facet, shoots: readonly FleetShoot[]): Section[] {
  const rows = countsBy(facet, shoots);
  if (rows.length === 0) return [];
  const heading = `By ${facetNames[facet]}`;
  const all = `All ${rows.length.toLocaleString('en')} by ${facetNames[facet]}`;
  const content = html`${countTable(view, facet, rows.slice(0, FIRST_ROWS))}
${rows.length > FIRST_ROWS ? html`<p><a href="${view.links.counts(facet, 1)}">${all}</a></p>` : ''}`;
  return [{ id: `by-${facet}`, heading, content }];
}

function countTable({ links }: View, facet: Facet, rows: [string, Counts][]): Html {
  const cell = (value: string, state: Line['state'], count: number) =>
    html`<td>${count === 0 ? '0' : link(links.list({ ...noQuery, [facet]: value, state }), count.toLocaleString('en'))}</td>`;
  const name = facetNames[facet];
  return html`<table class="counts"><thead><tr><th scope="col">${name.charAt(0).toUpperCase()}${name.slice(1)}</th>${states.map((state) => html`<th scope="col">${stateMark(state)}</th>`)}<th scope="col">All</th></tr></thead>
<tbody>
${rows.map(
  ([
    value,
    counts,
  ]) => html`<tr><th scope="row">${link(links.list({ ...noQuery, [facet]: value }), value)}</th>${states.map((state) => cell(value, state, counts[state]))}<td>${counts.all.toLocaleString('en')}</td></tr>
`,
)}</tbody></table>`;
}

/** Renders the counts of all projects, seeds or releases. */
export function countsPage(view: View, facet: Facet, number: number): Html {
  const rows = countsBy(facet, view.snapshot.shoots);
  const heading = `Shoots by ${facetNames[facet]}`;
  const main = html`<h1>${heading}</h1>
<section id="counts" aria-label="${heading}">
${countTable(view, facet, rows.slice((number - 1) * PAGE_ROWS, number * PAGE_ROWS))}
${pages(number, rows.length, heading, (target) => view.links.counts(facet, target))}
</section>`;
  return page(view, `${heading} – shoot-flux`, news(view.snapshot.shoots), main);
}

/** What is below the Shoots. */
interface Section {
  id: string;
  heading: string;
  content: Html;
}

/** 200 rows are long: the way to what is below them. */
function jumps(sections: Section[]): Html {
  if (sections.length === 0) return html``;
  return html`<nav id="jumps" class="pages" aria-label="Below the Shoots">${sections.map(({ id, heading }) => html`<a href="#${id}">${heading}</a> `)}</nav>`;
}

/** The rollouts that are under way or paused, in all projects. */
function rollouts({ snapshot, links }: View, shoots: readonly FleetShoot[]): Section[] {
  const namespaces = new Set(shoots.map(({ namespace }) => namespace));
  const current = [...snapshot.states].filter(([namespace, state]) => namespaces.has(namespace) && isUnderWay(state));
  if (current.length === 0) return [];
  const entry = (namespace: string) => {
    const project = projectOf(namespace);
    return html`<li>${link(links.list({ ...noQuery, project }), project)}: ${snapshot.rollouts[namespace] ?? ''}</li>`;
  };
  const more = current.length - MOST_ROLLOUTS;
  const content = html`<ul>${current.slice(0, MOST_ROLLOUTS).map(([namespace]) => entry(namespace))}</ul>
${more > 0 ? html`<p>${more} more; filter by project to see them.</p>` : ''}`;
  return [{ id: 'rollouts', heading: `Rollouts (${current.length})`, content }];
}

const MOST_ROLLOUTS = 10;

/** The rollout of one project, wave by wave. */
function rollout(view: View, project: string): Html {
  const { snapshot } = view;
  const found = Object.entries(snapshot.rollouts).find(([namespace]) => projectOf(namespace) === project);
  if (found === undefined) return html``;
  const [namespace, text] = found;
  const state = snapshot.states.get(namespace);
  return html`<section id="rollout" aria-labelledby="rollout-heading">
<h2 id="rollout-heading">Rollout</h2>
<p>${text}</p>
${state === undefined ? '' : waveTable(view, namespace, state)}
</section>`;
}

interface Wave {
  order: string | undefined;
  inProgress: string[];
  waiting: string[];
}

/** Returns the Shoots in progress and those that wait, by their turn. */
export function wavesOf({ inProgress, waiting }: RolloutState): Wave[] {
  const waves = new Map<string | undefined, Wave>();
  const waveOf = (order: string | undefined) => {
    const wave = waves.get(order) ?? { order, inProgress: [], waiting: [] };
    waves.set(order, wave);
    return wave;
  };
  for (const [name, { order }] of inProgress) waveOf(order).inProgress.push(name);
  for (const [name, { order }] of waiting) waveOf(order).waiting.push(name);
  return [...waves.values()].sort((one, other) => compareOrder(one.order, other.order));
}

const MOST_NAMES = 10;

function waveTable({ links }: View, namespace: string, state: RolloutState): Html {
  const names = (list: readonly string[]) => {
    const shown = list
      .slice(0, MOST_NAMES)
      .map((name, index) => [index > 0 ? ', ' : '', link(links.shoot({ namespace, name }), name)]);
    const more = list.length - MOST_NAMES;
    return html`${list.length}${list.length > 0 ? ': ' : ''}${shown}${more > 0 ? ` and ${more} more` : ''}`;
  };
  const failed = [...state.failed];
  const began = new Date(state.began * 1000).toISOString().replace(/\.\d+/, '');
  return html`<p>It began at ${moment(began)}, has at most ${state.limits.maxInProgress} in progress at a time, and pauses after more than ${state.limits.maxFailed} failures.</p>
${failed.length > 0 ? html`<p>Failed: ${names(failed)}</p>` : ''}
${
  isUnderWay(state)
    ? html`<table class="waves"><thead><tr><th scope="col">Wave</th><th scope="col">In progress</th><th scope="col">Waiting</th></tr></thead>
<tbody>
${wavesOf(state).map(
  ({
    order,
    inProgress,
    waiting,
  }) => html`<tr><th scope="row">${order ?? 'without the label'}</th><td>${names(inProgress)}</td><td>${names(waiting)}</td></tr>
`,
)}</tbody></table>`
    : ''
}`;
}

/** Renders the page of one Shoot. */
export function shootPage(view: View, shoot: FleetShoot, history: History): Html {
  const { links, now } = view;
  const { namespace, name, state, since, flux, sentence } = shoot;
  const project = projectOf(namespace);
  const [problem, remedy] = problemAndRemedy(sentence ?? '');
  const seeds = seedsOf(shoot).map((seed, index) => [
    index > 0 ? ', ' : '',
    link(links.list({ ...noQuery, seed }), seed),
  ]);
  const main = html`<h1>Shoot ${name}</h1>
<section id="shoot" aria-label="State">
<p class="big">${stateMark(state)}${since === undefined ? '' : html` for ${age(since, now)}`}</p>
${problem === '' ? '' : html`<div class="problem"><h2>What is the matter</h2><p>${problem}</p>${remedy === undefined ? '' : html`<h2>What to do</h2><p>${remedy}</p>`}</div>`}
<dl>
<dt>Project</dt><dd>${link(links.list({ ...noQuery, project }), project)}</dd>
${since === undefined ? '' : html`<dt>Since</dt><dd>${moment(since)}</dd>`}
${flux === undefined ? '' : html`<dt>Flux</dt><dd>${link(links.list({ ...noQuery, flux }), flux)}</dd>`}
${seeds.length === 0 ? '' : html`<dt>Seed</dt><dd>${seeds}</dd>`}
<dt>More</dt><dd><code>shoot-flux explain ${name} --project ${project}</code></dd>
</dl>
</section>
<section id="history" aria-labelledby="history-heading">
<h2 id="history-heading">History</h2>
${historyOf(history, now)}
</section>`;
  return page(view, `${name}: ${state} – project ${project}`, `${name}: ${state}. ${sentence ?? ''}`, main);
}

function historyOf(history: History, now: Date): Html {
  if ('unseen' in history) return html`<p>${history.unseen}</p>`;
  if (history.entries.length === 0)
    return html`<p>The garden keeps no Event about this Shoot. It forgets Events after an hour, unless it is configured otherwise.</p>`;
  return html`<table class="stack events"><thead><tr><th scope="col">Age</th><th scope="col">Reason</th><th scope="col">Message</th></tr></thead>
<tbody>
${history.entries.map(
  ({
    time,
    isWarning,
    reason,
    message,
    count,
  }) => html`<tr><td>${age(time, now)}</td><td>${isWarning ? html`<b>⚠ ${reason}</b>` : reason}${count > 1 ? ` (${count} times)` : ''}</td><td class="sentence">${message}</td></tr>
`,
)}</tbody></table>`;
}

/** Our sentences name the remedy behind the last semicolon. */
export function problemAndRemedy(sentence: string): [problem: string, remedy: string | undefined] {
  const at = sentence.lastIndexOf('; ');
  if (at === -1) return [sentence, undefined];
  const remedy = sentence.slice(at + 2);
  return [`${sentence.slice(0, at)}.`, `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`];
}

/** Renders a page that says one thing, for example that there is no such Shoot. */
export function messagePage(view: View, heading: string, text: string): Html {
  return page(view, `${heading} – shoot-flux`, text, html`<h1>${heading}</h1><p>${text}</p>`);
}
