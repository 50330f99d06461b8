import { html } from 'hono/html';
import { compareOrder, isUnderWay, type RolloutState } from '../../shared/gardener/rollout.ts';
import type { Counts, Line } from '../../shared/gardener/status-map.ts';
import { countsOf, type FleetShoot, states, wordOf } from '../fleet/fleet.ts';
import { ageOf, capital } from '../fleet/print.ts';
import { script, style } from './assets.ts';
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
}

/** What every page knows. */
export interface View {
  snapshot: Snapshot;
  links: Links;
  now: Date;
  /** Who looks, where a proxy says so. */
  user?: string | undefined;
  /** False: it is a file, which does not change by itself and has nothing to ask. */
  isLive: boolean;
}

const symbols: Record<Line['state'], string> = { 'Not Ready': '✗', Progressing: '…', Hibernated: '☾', Ready: '✔' };

const stateMark = (state: Line['state']) =>
  html`<span class="state ${wordOf(state)}"><span aria-hidden="true">${symbols[state]}</span> <span class="word">${state}</span></span>`;

const link = (href: string | undefined, text: Html | string, more: Html | string = '') =>
  href === undefined ? html`<span>${text}</span>` : html`<a href="${href}"${more}>${text}</a>`;

/** Leads to the Shoots of a project, of a seed, or with a release. */
const facetLink = ({ links }: View, facet: Facet, value: string) =>
  link(links.list({ ...noQuery, [facet]: value }), value);

const joined = (parts: readonly Html[]) => parts.map((part, index) => [index > 0 ? ', ' : '', part]);

/** A table; each row is the text of its cells. One of the kind `stack` is a list where there is no room. */
const table = (kinds: string, heads: readonly (Html | string)[], rows: readonly Html[]) =>
  html`<table class="${kinds}"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => html`<tr>${cells}</tr>\n`)}</tbody></table>`;

/** A part of a page, with a heading. */
interface Section {
  id: string;
  heading: string;
  content: Html;
}

const section = ({ id, heading, content }: Section) => html`<section id="${id}" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${heading}</h2>
${content}
</section>
`;

const age = (time: string, now: Date) => html`<time datetime="${time}" title="${time}">${ageOf(time, now)}</time>`;

const moment = (time: string) =>
  html`<time datetime="${time}">${time.replace(/\.\d+/, '').replace('T', ' ').replace('Z', ' UTC')}</time>`;

const numeral = (count: number) => count.toLocaleString('en');

/** One sentence about all, also for those who hear the page. */
function news(shoots: readonly FleetShoot[]): string {
  const { all, Progressing, 'Not Ready': notReady } = countsOf(shoots);
  return `${notReady} not Ready, ${Progressing} progressing of ${numeral(all)} ${all === 1 ? 'Shoot' : 'Shoots'}`;
}

const MOST_SUSPENDED = 20;

function page(view: View, title: string, about: string, main: Html): Html {
  const { snapshot, links, user, isLive } = view;
  const suspended = Object.entries(snapshot.suspensions).slice(0, MOST_SUSPENDED);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style.name}">
${isLive ? html`<script type="module" src="${script.name}"></script>` : ''}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<a class="home" href="${links.list(noQuery)}">Flux in all Shoots</a>
<p id="as-of">As of ${moment(snapshot.readAt.toISOString())}${user === undefined ? '' : html`, as ${user} sees it`}</p>
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
  const heading = query.project === '' ? 'All Shoots' : `Project ${query.project}`;
  const none =
    snapshot.shoots.length === 0
      ? 'No Shoot has the extension shoot-flux yet. A Shoot appears here some seconds after it has got it.'
      : 'No Shoot matches these filters.';
  const content = html`${shoots.length === 0 ? html`<p>${none}</p>` : shootTable(view, rowsOn(query.page, shoots))}
${pages(query.page, shoots, 'Shoots', (page) => links.list({ ...query, page }))}`;
  const below = [
    ...(query.project === '' ? rollouts(view, rest) : []),
    ...facets.flatMap((facet) => countsOfFacet(view, facet, rest)),
  ];
  // 200 rows are long: the way to what is below them.
  const jumps = below.map(({ id, heading }) => html`<a href="#${id}">${heading}</a> `);
  const main = html`
<h1>${heading}</h1>
${stateLinks(view, query, countsOf(rest))}
${query.project === '' ? '' : rollout(view, query.project)}
${below.length === 0 ? '' : html`<nav id="jumps" class="pages" aria-label="Below the Shoots">${jumps}</nav>`}
${view.isLive ? filters(query, snapshot) : ''}
${section({ id: 'shoots', heading: query.state === '' ? 'Shoots, what is not Ready first' : query.state, content })}
${below.map(section)}`;
  return page(view, `${news(rest)} – ${heading}`, news(rest), main);
}

function stateLinks({ links }: View, query: Query, counts: Counts): Html {
  const card = (state: Line['state'] | '', content: Html | string, count: number) => {
    const current = state === query.state ? html` aria-current="page"` : '';
    const text = html`<b>${numeral(count)}</b> ${content}`;
    return html`<li>${link(links.list({ ...query, state, page: 1 }), text, current)}</li>`;
  };
  return html`<nav id="states" aria-label="States"><ul class="cards">
${card('', 'all', counts.all)}
${states.map((state) => card(state, stateMark(state), counts[state]))}
</ul></nav>`;
}

function filters(query: Query, { shoots }: Snapshot): Html {
  const option = (value: string, text: string, current: string) =>
    html`<option value="${value}"${value === current ? html` selected` : ''}>${text}</option>`;
  const releases = Array.from(countsBy('flux', shoots).slice(0, MOST_RELEASES), ([value]) => value).sort();
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

function shootTable(view: View, shoots: readonly FleetShoot[]): Html {
  const row = (shoot: FleetShoot) => {
    const { namespace, name, state, since, flux = '', sentence = '' } = shoot;
    const time = since === undefined ? '' : age(since, view.now);
    return html`<th scope="row">${link(view.links.shoot(shoot), name)}</th>
<td>${facetLink(view, 'project', projectOf(namespace))}</td><td>${stateMark(state)}</td><td>${time}</td><td>${flux}</td><td>${seedLinks(view, shoot)}</td><td class="sentence">${sentence}</td>`;
  };
  const heads = ['Shoot', 'Project', 'State', 'Since', 'Flux', 'Seed', 'What is wrong, and what to do'];
  return table('stack shoots', heads, shoots.map(row));
}

const seedLinks = (view: View, shoot: FleetShoot) =>
  joined(seedsOf(shoot).map((seed) => facetLink(view, 'seed', seed)));

const rowsOn = <T>(page: number, all: readonly T[]) => all.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);

/** The way to the other pages of a list. */
function pages(current: number, rows: readonly unknown[], what: string, href: (page: number) => string | undefined) {
  const last = Math.max(1, Math.ceil(rows.length / PAGE_ROWS));
  if (last === 1 && current === 1) return '';
  const before = (current - 1) * PAGE_ROWS;
  const shown = rowsOn(current, rows).length;
  const range = `${numeral(before + 1)} to ${numeral(before + shown)} of ${numeral(rows.length)}`;
  const previous = current > 1 ? link(href(Math.min(last, current - 1)), '← Previous') : '';
  const next = current < last ? link(href(current + 1), 'Next →') : '';
  return html`<nav class="pages" aria-label="Pages of ${what}">${previous} <span>${shown === 0 ? 'There is nothing on this page' : range}</span> ${next}</nav>`;
}

const facetNames: Record<Facet, string> = { project: 'project', seed: 'seed', flux: 'Flux version' };

/** So many lines of each are on the first page. */
const FIRST_ROWS = 10;

function countsOfFacet(view: View, facet: Facet, shoots: readonly FleetShoot[]): Section[] {
  const rows = countsBy(facet, shoots);
  if (rows.length === 0) return [];
  const all = `All ${numeral(rows.length)} by ${facetNames[facet]}`;
  const more = rows.length > FIRST_ROWS ? html`<p>${link(view.links.counts(facet, 1), all)}</p>` : '';
  const content = html`${countTable(view, facet, rows.slice(0, FIRST_ROWS))}${more}`;
  return [{ id: `by-${facet}`, heading: `By ${facetNames[facet]}`, content }];
}

function countTable(view: View, facet: Facet, rows: [string, Counts][]): Html {
  const cell = (value: string, state: Line['state'], count: number) =>
    html`<td>${count === 0 ? '0' : link(view.links.list({ ...noQuery, [facet]: value, state }), numeral(count))}</td>`;
  const row = ([value, counts]: [string, Counts]) =>
    html`<th scope="row">${facetLink(view, facet, value)}</th>${states.map((state) => cell(value, state, counts[state]))}<td>${numeral(counts.all)}</td>`;
  return table('counts', [capital(facetNames[facet]), ...states.map(stateMark), 'All'], rows.map(row));
}

/** Renders the counts of all projects, seeds or releases. */
export function countsPage(view: View, facet: Facet, number: number): Html {
  const rows = countsBy(facet, view.snapshot.shoots);
  const heading = `Shoots by ${facetNames[facet]}`;
  const main = html`<h1>${heading}</h1>
<section id="counts" aria-label="${heading}">
${countTable(view, facet, rowsOn(number, rows))}
${pages(number, rows, heading, (page) => view.links.counts(facet, page))}
</section>`;
  return page(view, `${heading} – shoot-flux`, news(view.snapshot.shoots), main);
}

const MOST_ROLLOUTS = 10;

/** The rollouts that are under way or paused, in all projects. */
function rollouts(view: View, shoots: readonly FleetShoot[]): Section[] {
  const { states, rollouts, landscape } = view.snapshot;
  const namespaces = new Set(shoots.map(({ namespace }) => namespace));
  const current = [...states].filter(([namespace, state]) => namespaces.has(namespace) && isUnderWay(state));
  if (current.length === 0 && landscape === undefined) return [];
  const entry = ([namespace]: [string, RolloutState]) =>
    html`<li>${facetLink(view, 'project', projectOf(namespace))}: ${rollouts[namespace] ?? ''}</li>`;
  const more = current.length - MOST_ROLLOUTS;
  const ofOperators = landscape === undefined ? '' : html`<li>What the operators change: ${landscape}</li>`;
  const content = html`<ul>${ofOperators}${current.slice(0, MOST_ROLLOUTS).map(entry)}</ul>
${more > 0 ? html`<p>${more} more; filter by project to see them.</p>` : ''}`;
  return [{ id: 'rollouts', heading: `Rollouts (${current.length + Number(landscape !== undefined)})`, content }];
}

/** The rollout of one project, wave by wave. */
function rollout(view: View, project: string): Html {
  const { rollouts, states } = view.snapshot;
  const [namespace, text] = Object.entries(rollouts).find(([namespace]) => projectOf(namespace) === project) ?? [];
  if (namespace === undefined) return html``;
  const state = states.get(namespace);
  const content = html`<p>${text}</p>
${state === undefined ? '' : waveTable(view, namespace, state)}`;
  return section({ id: 'rollout', heading: 'Rollout', content });
}

const MOST_NAMES = 10;

function waveTable({ links }: View, namespace: string, state: RolloutState): Html {
  const names = (list: readonly string[]) => {
    const shown = list.slice(0, MOST_NAMES).map((name) => link(links.shoot({ namespace, name }), name));
    const more = list.length - MOST_NAMES;
    return html`${list.length}${list.length > 0 ? ': ' : ''}${joined(shown)}${more > 0 ? ` and ${more} more` : ''}`;
  };
  const { began, limits, failed, inProgress, waiting } = state;
  const orders = new Set([...inProgress.values(), ...waiting.values()].map(({ order }) => order));
  const namesAt = (turn: string | undefined, shoots: ReadonlyMap<string, { order: string | undefined }>) =>
    names([...shoots].filter(([, { order }]) => order === turn).map(([name]) => name));
  const wave = (turn: string | undefined) =>
    html`<th scope="row">${turn ?? 'without the label'}</th><td>${namesAt(turn, inProgress)}</td><td>${namesAt(turn, waiting)}</td>`;
  return html`<p>It began at ${moment(new Date(began * 1000).toISOString())}, has at most ${limits.maxInProgress} in progress at a time, and pauses when more than ${limits.maxFailed} have failed.</p>
${failed.size > 0 ? html`<p>Failed: ${names([...failed])}</p>` : ''}
${isUnderWay(state) ? table('waves', ['Wave', 'In progress', 'Waiting'], [...orders].sort(compareOrder).map(wave)) : ''}`;
}

/** Renders the page of one Shoot. */
export function shootPage(view: View, shoot: FleetShoot, history: History): Html {
  const { namespace, name, state, since, flux, sentence = '' } = shoot;
  const project = projectOf(namespace);
  const [problem, remedy] = problemAndRemedy(sentence);
  const seeds = seedLinks(view, shoot);
  const main = html`<h1>Shoot ${name}</h1>
<section id="shoot" aria-label="State">
<p class="big">${stateMark(state)}${since === undefined ? '' : html` for ${age(since, view.now)}`}</p>
${problem === '' ? '' : html`<div class="problem"><h2>What is the matter</h2><p>${problem}</p>${remedy === undefined ? '' : html`<h2>What to do</h2><p>${remedy}</p>`}</div>`}
<dl>
<dt>Project</dt><dd>${facetLink(view, 'project', project)}</dd>
${since === undefined ? '' : html`<dt>Since</dt><dd>${moment(since)}</dd>`}
${flux === undefined ? '' : html`<dt>Flux</dt><dd>${facetLink(view, 'flux', flux)}</dd>`}
${seeds.length === 0 ? '' : html`<dt>Seed</dt><dd>${seeds}</dd>`}
<dt>More</dt><dd><code>shoot-flux explain ${name} --project ${project}</code></dd>
</dl>
</section>
${section({ id: 'history', heading: 'History', content: historyOf(history, view.now) })}`;
  return page(view, `${name}: ${state} – project ${project}`, `${name}: ${state}. ${sentence}`, main);
}

function historyOf(history: History, now: Date): Html {
  if ('unseen' in history) return html`<p>${history.unseen}</p>`;
  if (history.entries.length === 0)
    return html`<p>The garden keeps no Event about this Shoot. It forgets Events after an hour, unless it is configured otherwise.</p>`;
  const rows = history.entries.map(({ time, isWarning, reason, message, count }) => {
    const mark = isWarning ? html`<b>⚠ ${reason}</b>` : reason;
    return html`<td>${age(time, now)}</td><td>${mark}${count > 1 ? ` (${count} times)` : ''}</td><td class="sentence">${message}</td>`;
  });
  return table('stack events', ['Age', 'Reason', 'Message'], rows);
}

/** Our sentences name the remedy behind the last semicolon. */
function problemAndRemedy(sentence: string): [problem: string, remedy: string | undefined] {
  const at = sentence.lastIndexOf('; ');
  if (at === -1) return [sentence, undefined];
  return [`${sentence.slice(0, at)}.`, capital(sentence.slice(at + 2))];
}

/** Renders a page that says one thing, for example that there is no such Shoot. */
export function messagePage(view: View, heading: string, text: string): Html {
  return page(view, `${heading} – shoot-flux`, text, html`<h1>${heading}</h1><p>${text}</p>`);
}
