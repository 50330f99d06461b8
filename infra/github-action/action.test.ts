// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { standIn } from '../../shared/flux/testing.ts';
import { root } from '../../test/integration/documents.ts';
import { fluxConfigOf, shootOf } from '../cli/testing.ts';
import { bodyOf } from './main.ts';

const BOT = 'github-actions[bot]';
const TOKEN = 'ghs_token-of-the-job';

interface Comment {
  id: number;
  body: string;
  user: { login: string };
}

/** The comments of pull request 7, and the requests that changed them. */
let comments: Comment[];
let writes: string[];
let refusal: number | undefined;
let server: Server;
let checkout: string;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '', headers } = request;
  const { pathname, searchParams } = new URL(url, 'http://github');
  const reply = (status: number, content: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
  if (headers.authorization !== `Bearer ${TOKEN}`) return void reply(401, { message: 'Bad credentials' });
  if (method === 'GET' && pathname === '/repos/my-org/fleet/issues/7/comments') {
    const [size, page] = [Number(searchParams.get('per_page')), Number(searchParams.get('page'))];
    return void reply(200, comments.slice((page - 1) * size, page * size));
  }
  const { body } = (await json(request)) as { body: string };
  if (refusal !== undefined) return void reply(refusal, { message: 'Resource not accessible by integration' });
  if (body.length > 65_536) return void reply(422, { message: 'Body is too long (maximum is 65536 characters)' });
  const edited = comments.find(({ id }) => pathname === `/repos/my-org/fleet/issues/comments/${id}`);
  if (method === 'PATCH' && edited !== undefined) edited.body = body;
  else if (method === 'POST' && pathname === '/repos/my-org/fleet/issues/7/comments')
    comments.push({ id: comments.length + 1, body, user: { login: BOT } });
  else return void reply(404, { message: 'Not Found' });
  writes.push(`${method} ${pathname}`);
  reply(method === 'POST' ? 201 : 200, {});
}

beforeEach(async () => {
  [comments, writes, refusal] = [[], [], undefined];
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  checkout = await mkdtemp(join(tmpdir(), 'action-'));
  await cp(join(standIn.folder, standIn.version), join(checkout, 'flux', standIn.version), { recursive: true });
  await git('init', '--quiet', '--initial-branch=main');
  await write('.gitignore', 'flux\nevent.json\nsummary.md\n');
});
afterEach(async () => {
  if (server.listening) server.close();
  await rm(checkout, { recursive: true });
});

const run = promisify(execFile);
const git = (...args: string[]) =>
  run('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false', ...args], {
    cwd: checkout,
  });

async function write(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(join(checkout, path)), { recursive: true });
  await writeFile(join(checkout, path), typeof content === 'string' ? content : stringify(content));
}

/** Commits files to `main` or to the branch of the pull request, and checks out what GitHub checks out. */
async function commit(branch: 'main' | 'edit', files: Record<string, unknown>): Promise<void> {
  await git('checkout', '--quiet', '-B', branch, ...(branch === 'edit' ? ['main'] : []));
  for (const [path, content] of Object.entries(files)) await write(path, content);
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Edit');
}

async function merge(): Promise<void> {
  await git('checkout', '--quiet', '--detach', 'main');
  await git('merge', '--quiet', '--no-ff', '--message', 'Merge', 'edit');
}

const shoot = (name: string, labels: object = { stage: 'dev' }) =>
  shootOf({ extensions: [{ type: 'shoot-flux' }] }, { name, namespace: 'garden-foo', labels });
const base = {
  'flux-config.yaml': fluxConfigOf({ repositoryInterval: '1m' }),
  'shoots/one.yaml': shoot('one'),
  'shoots/two.yaml': shoot('two'),
};

const apiUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Runs the last step of the action as a runner would, with the defaults of its inputs. */
async function action(inputs: Record<string, string> = {}, api = apiUrl()): Promise<{ code: number; out: string }> {
  const { inputs: known, runs } = parse(await readFile(join(import.meta.dirname, 'action.yml'), 'utf8'));
  const step = runs.steps.at(-1);
  const given: Record<string, string> = { 'flux-distribution': 'flux', token: TOKEN, ...inputs };
  const filled = (expression: string) =>
    expression.replace(/\$\{\{ inputs\.([\w-]+).*\}\}/, (_, name: string) => given[name] ?? known[name].default);
  const variables = Object.entries<string>(step.env).map(([name, value]) => [name, filled(value)]);
  await write(
    'event.json',
    JSON.stringify({ pull_request: { number: 7, base: { sha: (await git('rev-parse', 'main')).stdout.trim() } } }),
  );
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
    ...Object.fromEntries(variables),
    GITHUB_ACTION_PATH: import.meta.dirname,
    GITHUB_API_URL: api,
    GITHUB_REPOSITORY: 'my-org/fleet',
    GITHUB_EVENT_PATH: join(checkout, 'event.json'),
    GITHUB_STEP_SUMMARY: join(checkout, 'summary.md'),
  };
  return new Promise((resolve) => {
    execFile('bash', ['-e', '-o', 'pipefail', '-c', step.run], { cwd: checkout, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out: out + err }),
    );
  });
}

test('a comment says what a pull request changes, and is edited with it', async () => {
  await commit('main', base);
  await commit('edit', { 'flux-config.yaml': fluxConfigOf({ repositoryInterval: '2m' }) });
  await merge();
  comments = Array.from({ length: 150 }, (_, id) => ({ id: 1000 + id, body: 'Nice', user: { login: 'somebody' } }));
  comments.push({ id: 5, body: '<!-- shoot-flux flux-config.yaml -->', user: { login: 'somebody' } });
  const { code, out } = await action();
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('spec.interval: "1m" -> "2m"') });
  expect(writes).toEqual(['POST /repos/my-org/fleet/issues/7/comments']);
  const { body } = comments.at(-1) as Comment;
  expect(body).toContain('The configuration is right for 2 Shoots.\n\nIt changes 2 of 2 Shoots.\n');
  expect(body).toMatch(
    /<summary>2 Shoots: one.*two.*<\/summary>\n\n```diff\n~ GitRepository flux-system\/main-gitrepo\n/,
  );
  expect(await readFile(join(checkout, 'summary.md'), 'utf8')).toBe(body);
  expect(out + body).not.toContain(TOKEN);

  await action();
  expect(writes).toHaveLength(1);

  await commit('edit', {
    'flux-config.yaml': fluxConfigOf({ repositoryIntervall: '2m' }),
    'shoots/three.yaml': shoot('three'),
  });
  await merge();
  expect(await action()).toMatchObject({ code: 1 });
  const { id, body: edited } = comments.at(-1) as Comment;
  expect(writes.slice(1)).toEqual([`PATCH /repos/my-org/fleet/issues/comments/${id}`]);
  expect(edited).toContain('The configuration is wrong for 3 of 3 Shoots.\n\n```diff\none.yaml (one): ConfigMap ');
  expect(edited).toContain('did you mean repositoryInterval?');
  expect((await git('worktree', 'list')).stdout.trim().split('\n')).toHaveLength(1);
});

test('Shoots are compared with what they got before: new ones, wrong ones, and those that get the same', async () => {
  await commit('main', {
    ...base,
    'flux-config.yaml': fluxConfigOf({ repositoryPath: '${SHOOT_LABEL_stage}' }),
    'shoots/late.yaml': shoot('late', {}),
  });
  await commit('edit', { 'shoots/new.yaml': shoot('new'), 'shoots/late.yaml': shoot('late') });
  await merge();
  expect(await action()).toMatchObject({ code: 0 });
  const { body } = comments.at(-1) as Comment;
  expect(body).toContain('It changes 2 of 4 Shoots.');
  expect(body).toMatch(/1 Shoot: late.*\n\n```diff\ncannot be compared, because it had an issue before: ConfigMap /);
  expect(body).toMatch(/1 Shoot: new.*\n\n```diff\nis new\n/);
  expect(body).not.toContain('one.yaml');
});

test('a pull request that adds the ConfigMap, or changes nothing, has a comment', async () => {
  await commit('main', { 'shoots/one.yaml': shoot('one') });
  await commit('edit', base);
  await merge();
  expect(await action()).toMatchObject({ code: 0 });
  expect(comments[0]?.body).toContain('+ GitRepository flux-system/main-gitrepo\n');
  await git('checkout', '--quiet', '--detach', 'edit');
  await git('checkout', '--quiet', '-B', 'main');
  await commit('edit', { 'notes.txt': 'nothing' });
  await merge();
  expect(await action()).toMatchObject({ code: 0 });
  expect(comments[0]?.body).toMatch(/It changes nothing in any Shoot\.\n$/);
});

test.each([
  [403, 0, '::warning::GitHub does not take the comment (HTTP 403); give the job pull-requests: write.'],
  [500, 1, '::error::GitHub does not take the comment (HTTP 500); run the job again.\n'],
])('with the answer %i the job ends with %i', async (status, code, sentence) => {
  await commit('main', base);
  await commit('edit', { 'notes.txt': 'nothing' });
  await merge();
  refusal = status;
  expect(await action()).toEqual({ code, out: expect.stringContaining(sentence) });
});

test('a GitHub that cannot be reached is one line', async () => {
  await commit('main', base);
  await commit('edit', { 'notes.txt': 'nothing' });
  await merge();
  const { port } = server.address() as AddressInfo;
  server.close();
  const { code, out } = await action({}, `http://127.0.0.1:${port}`);
  expect(code).toBe(1);
  expect(out).toMatch(/^::error::GitHub cannot be reached: .*; run the job again\.$/m);
});

test('a checkout without history names what it needs', async () => {
  await commit('main', base);
  await commit('edit', { 'notes.txt': 'nothing' });
  await merge();
  const shallow = join(checkout, 'flux/shallow');
  await run('git', ['clone', '--quiet', '--depth=1', `file://${checkout}`, shallow]);
  const deep = checkout;
  checkout = shallow;
  await cp(join(deep, 'flux', standIn.version), join(shallow, 'flux', standIn.version), { recursive: true });
  await git('branch', 'main');
  const { code, out } = await action();
  checkout = deep;
  expect(code).toBe(1);
  expect(out).toContain('::error::The checkout lacks the commit before the pull request; set fetch-depth: 2');
});

test('a file that cannot be read is an issue, and its lines are no commands of the workflow', async () => {
  await commit('main', base);
  await commit('edit', { 'shoots/one.yaml': shoot('one\n::set-output name=a::b\n@everybody <img> ```') });
  await merge();
  const { out } = await action();
  const [, mark = ''] = /^::stop-commands::(.+)$/m.exec(out) ?? [];
  expect(out.slice(out.indexOf('::stop-commands'), out.indexOf(`\n::${mark}::\n`))).toContain('::set-output');
  const { body } = comments.at(-1) as Comment;
  expect(body).not.toContain('<img>');
  expect(body).not.toContain('@everybody');
});

test('the longest comment fits, with a fence that no text ends', () => {
  const long = { title: 'changes', text: `${'`'.repeat(5)} line\n`.repeat(2000) };
  const body = bodyOf('flux-config.yaml', [{ title: 'first', text: '' }, ...Array.from({ length: 40 }, () => long)]);
  expect(body.length).toBeLessThanOrEqual(65_536);
  expect(body.length).toBeGreaterThan(50_000);
  expect(body.endsWith('The rest is in the log of the job.')).toBe(true);
  expect(body).toContain('\n``````diff\n');
});
