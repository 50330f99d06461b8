import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventAbout, warning } from '../../shared/gardener/event.ts';
import { type RolloutState, rolloutData } from '../../shared/gardener/rollout.ts';
import { resources } from '../../shared/kube/resource.ts';
import { projectOf, shootOn, statusMapOf } from '../fleet/testing.ts';
import { boundRole } from '../gardener/rbac.ts';
import { readable, startPage } from './testing.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');

const minutes = (count: number) => Math.floor(Date.now() / 1000) - 60 * count;
const rollout: RolloutState = {
  ...{ revision: '0123456789ab', began: minutes(60), limits: { maxInProgress: 1, maxFailed: 0 }, done: 1 },
  waiting: new Map([['good', { order: '10', seen: minutes(1) }]]),
  inProgress: new Map([['bad', { order: '2', since: minutes(1), wasNotReady: false }]]),
  ...{ failed: new Set(['worse']), accepted: 0, continued: undefined },
};

const eventOn = (kind: 'shoots' | 'configMaps', name: string, message: string) => ({
  ...eventAbout(resources[kind], { namespace: 'garden-foo', name }, warning('FluxNotReady', message), new Date()),
  count: 3,
});

const objects = [
  eventOn('shoots', 'bad', 'The deploy key is missing.'),
  eventOn('configMaps', 'bad', 'This is about a ConfigMap.'),
  ...projectOf('bar'),
  shootOn('aws-1', 'garden-foo', 'good'),
  shootOn('aws-1', 'garden-foo', 'bad'),
  shootOn('aws-2', 'garden-foo', 'worse'),
  shootOn('aws-2', 'garden-bar', 'asleep'),
  statusMapOf(
    'garden-foo',
    {
      good: { state: 'Ready', flux: 'v2.9.4' },
      bad: {
        state: 'Not Ready',
        since: ago(30),
        flux: 'v2.9.4',
        sentence: 'Kustomization <b>"x"</b> fails; correct it.',
      },
      worse: { state: 'Not Ready', since: ago(300), flux: 'v2.8.8', sentence: 'The quota has no room.' },
    },
    { ...rolloutData(rollout, 3), Suspended: 'by mia since 2026-01-02T03:04:05Z: leaked key' },
  ),
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden' } },
  statusMapOf('garden', {}, { LandscapeRollout: 'Revision ba9876543210 is under way.' }),
  statusMapOf('garden-bar', { asleep: { state: 'Hibernated', flux: 'v2.9.4' } }),
];

let page: Awaited<ReturnType<typeof startPage>>;
beforeAll(async () => {
  page = await startPage(objects);
});
afterAll(() => page[Symbol.asyncDispose]());

const read = async (path: string) => readable(await (await page.get(path)).text());
const rowsOf = async (path: string) =>
  [...(await (await page.get(path)).text()).matchAll(/<tr><th scope="row"><a href="shoot\?[^"]*">([^<]*)/g)].map(
    ([, name]) => name,
  );

describe('the page', () => {
  it('shows what is not Ready first, the oldest before the others, with counts', async () => {
    expect(await rowsOf('/')).toEqual(['worse', 'bad', 'asleep', 'good']);
    const text = await read('/');
    expect(text).toContain('4 all 2 ✗ Not Ready 0 … Progressing 1 ☾ Hibernated 1 ✔ Ready');
    expect(text).toContain('worse foo ✗ Not Ready 5h v2.8.8 aws-2 The quota has no room.');
  });

  it('shows what others wrote as text', async () => {
    const text = await (await page.get('/')).text();
    expect(text).toContain('Kustomization &lt;b&gt;&quot;x&quot;&lt;/b&gt; fails');
  });

  it.each([
    ['/?state=not-ready', ['worse', 'bad']],
    ['/?project=bar', ['asleep']],
    ['/?seed=aws-1', ['bad', 'good']],
    ['/?flux=v2.8.8', ['worse']],
    ['/?text=QUOTA', ['worse']],
    ['/?text=goo&project=foo', ['good']],
    ['/?state=broken&page=-1', ['worse', 'bad', 'asleep', 'good']],
    ['/?page=2', []],
  ])('filters with %s', async (path, names) => {
    expect(await rowsOf(path)).toEqual(names);
  });

  it('shows a Shoot with what to do, and what has happened to it', async () => {
    const text = await read('/shoot?project=foo&name=bad');
    expect(text).toContain('Shoot bad ✗ Not Ready for 30m');
    expect(text).toContain('What is the matter Kustomization <b>"x"</b> fails. What to do Correct it.');
    expect(text).toContain('shoot-flux explain bad --project foo');
    expect(text).toContain('⚠ FluxNotReady (3 times) The deploy key is missing.');
    expect(text).not.toContain('about a ConfigMap');
  });

  it('shows the waves of a rollout, in their order', async () => {
    const text = await read('/?project=foo');
    expect(text).toContain('Revision 0123456789ab is paused, because more than 0 failed');
    expect(text).toContain(
      'has at most 1 in progress at a time, and pauses when more than 0 have failed. Failed: 1: worse',
    );
    expect(text).toContain('Wave In progress Waiting 2 1: bad 0 10 0 1: good');
    expect(await read('/')).toContain('Project foo is suspended by mia since 2026-01-02T03:04:05Z: leaked key');
    expect(await read('/')).toContain(
      'Rollouts (2) What the operators change: Revision ba9876543210 is under way. foo : Revision 0123456789ab is paused',
    );
  });

  it('answers what is nowhere, and every method but reading, without doing anything', async () => {
    expect((await page.get('/shoot?project=foo&name=none')).status).toBe(404);
    expect((await page.get('/elsewhere')).status).toBe(404);
    expect((await fetch(page.url, { method: 'POST' })).status).toBe(404);
  });

  it('lets a browser load nothing from elsewhere, run nothing inline and keep nothing', async () => {
    const { headers } = await page.get('/');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const text = await (await page.get('/')).text();
    expect(text).not.toMatch(/<style|<script(?! type="module" src="page-)| style=| on\w+=|https?:/);
    for (const [, asset] of text.matchAll(/(?:src|href)="(page-[^"]+)"/g)) {
      expect((await page.get(`/${asset}`)).status).toBe(200);
    }
  });

  it('is served under no name but those of loopback', async () => {
    const answer = await answerTo(page.url, { host: 'evil.example' });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('worse');
    expect((await answerTo(page.url, { host: 'localhost:1234' })).status).toBe(200);
  });
});

/** Asks with another `Host`, or with a header twice, which `fetch` does not permit. */
async function answerTo(url: string, headers: OutgoingHttpHeaders) {
  const asked = request(url, { headers }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, text: await text(answer) };
}

describe('with a header that names the user', () => {
  let proxied: Awaited<ReturnType<typeof startPage>>;
  let time = 1;
  beforeAll(async () => {
    const viewer = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'bar-status' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['flux-status'], verbs: ['get'] }];
    const everywhere = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    proxied = await startPage(
      [
        ...objects,
        ...boundRole({ namespace: 'garden-bar', name: 'status' }, rules, viewer),
        ...boundRole({ name: 'operators' }, everywhere, { ...viewer, name: 'operators' }),
      ],
      {
        identity: { userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups' },
        clock: { now: () => time },
      },
    );
  });
  afterAll(() => proxied[Symbol.asyncDispose]());

  const as = (user: string, groups = '', path = '/') =>
    proxied.get(path, { 'x-forwarded-user': user, 'x-forwarded-groups': groups });

  it.each([
    ['a member of foo', 'mia', '', ['worse', 'bad', 'good']],
    ['an operator', 'otto', 'team,operators', ['worse', 'bad', 'asleep', 'good']],
    ['somebody without rights', 'nick', '', []],
    ['somebody with a right from a group', 'nick', 'bar-status', ['asleep']],
    ['somebody in groups between blanks', 'nick', ' ,team ,\tbar-status , ', ['asleep']],
    ['somebody in a group whose name has a blank', 'nick', 'bar status,bar-status x', []],
    ['somebody who claims a group of Kubernetes', 'nick', 'system:masters', []],
    ['somebody who claims one behind a blank', 'nick', 'team, system:masters', []],
  ])('shows %s what they may read', async (_, user, groups, names) => {
    const text = await (await as(user, groups)).text();
    expect(['worse', 'bad', 'asleep', 'good'].filter((name) => text.includes(`name=${name}"`))).toEqual(names);
    expect(text).toContain(`as ${user} sees it`);
    expect(readable(text)).toContain(`${names.length} all`);
  });

  it('shows seeds, rollouts and Events only to those who may read them', async () => {
    expect(readable(await (await as('nick', 'bar-status')).text())).not.toContain('aws-2');
    expect(readable(await (await as('mia')).text())).toContain('aws-2');
    const shoot = '/shoot?project=bar&name=asleep';
    expect(readable(await (await as('nick', 'bar-status', shoot)).text())).toContain(
      'The history is missing, because Events in namespace garden-bar may not be listed',
    );
    expect((await as('mia', '', shoot)).status).toBe(404);
    expect(readable(await (await as('nick', '', '/?project=foo')).text())).not.toMatch(/Rollout|suspended/);
    expect(readable(await (await as('mia', '', '/?project=foo')).text())).toContain('Rollout');
  });

  const user = 'X-Forwarded-User';
  it.each<[string, OutgoingHttpHeaders]>([
    ['no user', {}],
    ['an empty user', { [user]: '' }],
    ['a blank user', { [user]: ' \t' }],
    ['a user of Kubernetes', { [user]: 'system:admin' }],
    ['one behind a blank', { [user]: ' system:admin' }],
    ['a user beside that of a browser', { [user]: ['otto', 'mia'] }],
    ['the same user twice', { [user]: ['mia', 'mia'] }],
  ])('refuses %s', async (_, headers) => {
    const { status, text } = await answerTo(proxied.url, { 'X-Forwarded-Groups': 'operators', ...headers });
    expect(text).toBe(
      'The proxy in front of this page must name one user, none of Kubernetes itself, in header X-Forwarded-User.\n',
    );
    expect(status).toBe(401);
  });

  it('takes groups of several headers', async () => {
    const groups = ['team', 'bar-status'];
    const { text } = await answerTo(proxied.url, { [user]: 'nick', 'X-Forwarded-Groups': groups });
    expect(text).toContain('name=asleep"');
  });

  it('asks once for several looks of the same user within 30 s', async () => {
    const look = async () => (await as('otto', 'operators')).text();
    await look();
    const before = reviews();
    time += 30_000;
    await look();
    expect(before).toBeGreaterThan(0);
    expect(reviews()).toBe(before);
    time += 1;
    await look();
    expect(reviews()).toBeGreaterThan(before);
  });

  const reviews = () => proxied.garden.api.requests.filter(({ path }) => path.endsWith('/subjectaccessreviews')).length;
});

describe('a page that stays open', () => {
  it('shows what changes, and says so while the garden does not answer', async () => {
    await using live = await startPage(objects);
    const patch = { data: { good: 'Not Ready since 2026-01-01T00:00:00Z: The quota is full.' } };
    await live.client.mergePatch(resources.configMaps, { namespace: 'garden-foo', name: 'flux-status' }, patch, {
      fieldManager: 'test',
    });
    await expect.poll(async () => readable(await (await live.get('/')).text()), slow).toContain('3 not Ready');
    const repair = live.garden.api.faults.add({ action: 'status', status: 500, match: {}, times: 1e9 });
    await expect
      .poll(async () => readable(await (await live.get('/')).text()), slow)
      .toContain('The garden does not answer.');
    repair();
    await expect
      .poll(async () => readable(await (await live.get('/')).text()), slow)
      .not.toContain('The garden does not answer.');
    expect(live.failures.length).toBe(1);
  });
});

// Even a busy machine has looked again by then.
const slow = { timeout: 150_000 };
