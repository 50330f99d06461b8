import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asObject } from '../../shared/config/values.ts';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { counted } from '../../shared/runtime/safe-text.ts';
import { cli } from '../cli/cli.ts';
import { exitCodes } from '../cli/command.ts';
import { diffObjects, diffText } from '../cli/diff.ts';
import { type CliInputs, readInputs, withShoot } from '../cli/inputs.ts';
import { renderOffline } from '../cli/offline.ts';
import type { Terminal, Variables } from '../cli/option.ts';
import { itemsOf, readDocuments } from '../cli/read-file.ts';
import { plain, rolloutText } from '../cli/render.ts';
import type { Verdict } from '../cli/validate.ts';

/** What is said about a pull request: a sentence, and below it a text that can be long. */
export interface Part {
  title: string;
  text: string;
}

/**
 * Checks a pull request, as `validate --fleet` and `render --diff` would, and keeps one comment about it up to date. It
 * runs in a checkout of the merge commit.
 * @returns the exit code of `validate`
 * @throws ShootFluxError where GitHub or the checkout do not permit it
 */
export async function review(environment: Variables, print: (text: string) => void): Promise<number> {
  const { GITHUB_EVENT_PATH = '', GITHUB_STEP_SUMMARY, FLUX_CONFIG = '' } = environment;
  const { pull_request: request } = JSON.parse(await readFile(GITHUB_EVENT_PATH, 'utf8'));
  if (request === undefined) throw new ShootFluxError('The event has no pull request; run this on pull_request.');
  const { code, part, valid } = await validated(environment);
  const parts = [part, ...(await differences(environment, valid, await baseOf(request.base.sha)))];
  // A line of a user must not become a command of the workflow.
  const mark = randomUUID();
  print(`::stop-commands::${mark}\n${parts.map(({ title, text }) => `${title}\n${text}\n`).join('')}::${mark}::\n`);
  const body = bodyOf(FLUX_CONFIG, parts);
  if (GITHUB_STEP_SUMMARY) await appendFile(GITHUB_STEP_SUMMARY, body);
  await keepComment(environment, request.number, FLUX_CONFIG, body).catch((error: unknown) => {
    if (!(error instanceof NotPermittedError)) throw error;
    print(`::warning::${error.message}\n`);
  });
  return code;
}

/** @returns also the names of the Shoots without an issue */
async function validated(environment: Variables): Promise<{ code: number; part: Part; valid: string[] }> {
  const files = Object.entries(options(environment, '.')).flatMap(([name, value]) => [`--${name}`, value]);
  const [printed, said]: [string[], string[]] = [[], []];
  const code = await cli(['validate', ...files, '--fleet', environment.SHOOTS ?? '', '--json'], {
    ...silent,
    out: (text) => void printed.push(text),
    err: (text) => void said.push(text),
  });
  // Without a list, nothing could be read at all.
  const verdicts: Verdict[] = JSON.parse(printed.join('') || '[]');
  const checked = verdicts.filter(({ skipped }) => skipped === undefined);
  const wrong = checked.filter(({ sentence }) => sentence !== undefined);
  const valid = checked.filter(({ sentence }) => sentence === undefined).map(({ shoot }) => shoot);
  const text = [...wrong.map(({ shoot, sentence }) => `${shoot}: ${sentence}\n`), ...said].join('');
  const good = wrong.length === 0 ? 'is right for' : `is wrong for ${wrong.length} of`;
  const title = verdicts.length > 0 ? `${good} ${counted(checked.length, 'Shoot')}` : 'cannot be checked';
  return { code, part: { title: `The configuration ${title}.`, text }, valid };
}

/** What the Shoots get from a checkout. */
interface Side {
  inputs: CliInputs;
  documents: Map<string, unknown>;
}

/** One part for each difference, with the Shoots that it reaches. */
async function differences(environment: Variables, names: string[], commit: string): Promise<Part[]> {
  if (names.length === 0) return [];
  const after = await sideOf(environment, '.');
  const different: { name: string; text: string }[] = [];
  await using folder = await mkdtempDisposable(join(tmpdir(), 'base-'));
  const base = join(folder.path, 'base');
  await git('worktree', 'add', '--quiet', '--detach', base, commit);
  try {
    const before = await sideOf(environment, base).catch((error) => reasonOf(error).replaceAll(`${base}/`, ''));
    for (const name of names) {
      const text = await differenceOf(name, before, after);
      if (text !== '') different.push({ name, text });
    }
  } finally {
    await git('worktree', 'remove', '--force', base);
  }
  if (different.length === 0) return [{ title: 'It changes nothing in any Shoot.', text: '' }];
  return [
    { title: `It changes ${different.length} of ${counted(names.length, 'Shoot')}.`, text: rolloutText(after.inputs) },
    ...[...Map.groupBy(different, ({ text }) => text)].map(([text, group]) => ({ title: titleOf(group), text })),
  ];
}

async function differenceOf(name: string, before: Side | string, after: Side): Promise<string> {
  if (typeof before === 'string') return `cannot be compared: ${before}\n`;
  if (!before.documents.has(name)) return 'is new\n';
  const objectsOf = async ({ inputs, documents }: Side) => {
    const { groups } = await renderOffline(withShoot(inputs, documents.get(name), name));
    return Object.values(groups).flat().map(plain);
  };
  const former = await objectsOf(before).catch(reasonOf);
  if (typeof former === 'string') return `cannot be compared, because it had an issue before: ${former}\n`;
  const next = await objectsOf(after);
  const changes = diffObjects(former, next);
  return changes.length === 0 ? '' : diffText(changes, next.length);
}

/** @throws the error itself if it is not about what users have written */
function reasonOf(error: unknown): string {
  if (!(error instanceof ShootFluxError)) throw error;
  return errorMessage(error);
}

async function sideOf(environment: Variables, root: string): Promise<Side> {
  const { 'flux-config': fluxConfig, ...others } = options(environment, root);
  // Without the file, a Shoot gets what its providerConfig and the landscape say.
  const given = existsSync(fluxConfig) ? { ...others, 'flux-config': fluxConfig } : others;
  const documents = new Map<string, unknown>();
  const folder = join(root, environment.SHOOTS ?? '');
  const files = await readdir(folder).catch(() => []);
  for (const file of files.filter((name) => /\.(ya?ml|json)$/.test(name))) {
    // `validate` has reported a file that cannot be read.
    const objects = (await readDocuments(join(folder, file), silent).catch(() => [])).flatMap(itemsOf);
    for (const object of objects) documents.set(`${file} (${asObject(asObject(object)?.metadata)?.name})`, object);
  }
  return { inputs: await readInputs(given, silent), documents };
}

/** The options of `validate` and `render`, with paths in a checkout. */
function options({ FLUX_CONFIG = '', CONFIG, FLUX_DISTRIBUTION = '' }: Variables, root: string) {
  return {
    'flux-distribution': FLUX_DISTRIBUTION,
    'flux-config': join(root, FLUX_CONFIG),
    ...(CONFIG && { config: join(root, CONFIG) }),
  };
}

/** Says nothing: errors are thrown, and warnings are those of `validate`. */
const silent: Terminal = { out: () => {}, err: () => {}, stdin: async () => '', environment: {} };

const MOST_NAMES = 10;

function titleOf(group: { name: string }[]): string {
  const names = group.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = group.length > MOST_NAMES ? ` and ${group.length - MOST_NAMES} more` : '';
  return `${counted(group.length, 'Shoot')}: ${names.join(', ')}${more}`;
}

const git = (...args: string[]) => promisify(execFile)('git', args);

/** The commit that the pull request changes: in a merge commit its first parent, which `HEAD` names in any clone. */
async function baseOf(sha: string): Promise<string> {
  const { stdout } = await git('cat-file', 'commit', 'HEAD');
  const base = /^tree .*\nparent (.*)\nparent /.exec(stdout)?.[1] ?? sha;
  await git('cat-file', '-e', `${base}^{commit}`).catch(() => {
    throw new ShootFluxError(
      'The checkout lacks the commit before the pull request; set fetch-depth: 2 in actions/checkout.',
    );
  });
  return base;
}

/** What GitHub takes, in characters. */
const LONGEST_COMMENT = 65_536;
const LONGEST_TEXT = 10_000;
const CUT = 'The rest is in the log of the job.';

/** The first line of the comment, which nobody sees. A repository may have several projects. */
const markerOf = (file: string) => `<!-- shoot-flux ${encodeURIComponent(file)} -->`;

/** Returns the comment with as many parts as it can hold. */
export function bodyOf(file: string, parts: Part[]): string {
  let body = `${markerOf(file)}\n### shoot-flux: ${plainText(file)}\n`;
  for (const [index, { title, text }] of parts.entries()) {
    const summary = plainText(title);
    const block = text === '' ? '' : `\n${fenced(text)}\n`;
    const folded = `\n<details><summary>${summary}</summary>\n${block}\n</details>\n`;
    const part = index > 1 ? folded : `\n${summary}\n${block}`;
    if (body.length + part.length + CUT.length + 1 > LONGEST_COMMENT) return `${body}\n${CUT}`;
    body += part;
  }
  return body;
}

/** What users have written must neither format the comment nor call somebody. */
const plainText = (text: string) => text.replaceAll(/[^\w .,:()/-]/g, (one) => `&#${one.codePointAt(0)};`);

/** A fence that is longer than every row of backticks in the text. */
function fenced(text: string): string {
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, text.lastIndexOf('\n', LONGEST_TEXT) + 1)}${CUT}\n` : text;
  const longest = Math.max(2, ...[...cut.matchAll(/`+/g)].map(([row]) => row.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${cut}${fence}`;
}

interface Comment {
  id: number;
  body?: string | null;
  user?: { login: string } | null;
}

/** The token lacks the right, as that of a fork does. */
class NotPermittedError extends ShootFluxError {}

/** Creates or edits the comment of this file. @throws ShootFluxError */
async function keepComment(environment: Variables, number: number, file: string, body: string): Promise<void> {
  let known: Comment | undefined;
  for (let page = 1, isLast = false; known === undefined && !isLast; page++) {
    const answer = await call(environment, 'GET', `${number}/comments?per_page=100&page=${page}`);
    const comments = (await answer.json()) as Comment[];
    // Anybody can write the marker.
    known = comments.find((one) => one.user?.login === environment.AUTHOR && one.body?.startsWith(markerOf(file)));
    isLast = comments.length < 100;
  }
  if (known === undefined) await call(environment, 'POST', `${number}/comments`, { body });
  else if (known.body !== body) await call(environment, 'PATCH', `comments/${known.id}`, { body });
}

/** Calls GitHub's issues API, which also serves pull requests. */
async function call(environment: Variables, method: string, path: string, content?: object): Promise<Response> {
  const { GITHUB_API_URL, GITHUB_REPOSITORY, TOKEN } = environment;
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/vnd.github+json', 'user-agent': 'shoot-flux' },
    ...(content && { body: JSON.stringify(content) }),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: unknown) => {
    throw new ShootFluxError(`GitHub cannot be reached: ${errorMessage(error)}; run the job again.`);
  });
  if (response.ok) return response;
  const sentence = `GitHub does not take the comment (HTTP ${response.status})`;
  const remedy = 'give the job pull-requests: write. A pull request from a fork never has it.';
  if ([403, 404].includes(response.status)) throw new NotPermittedError(`${sentence}; ${remedy}`);
  throw new ShootFluxError(`${sentence}; run the job again.`);
}

if (import.meta.main) {
  process.exitCode = await review(process.env, (text) => process.stdout.write(text)).catch((error: unknown) => {
    const text = error instanceof ShootFluxError ? error.message : String((error as Error).stack);
    process.stdout.write(`::error::${text.replaceAll('%', '%25').replaceAll('\n', '%0A')}\n`);
    return exitCodes.failure;
  });
}
