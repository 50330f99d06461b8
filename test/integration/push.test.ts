import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handler } from '../../functions/push/handler.ts';
import { type Product, startProduct } from '../../infra/process/product.ts';
import { renewed } from '../../infra/webhooks/certificates.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { contextOf } from '../scenarios/context.ts';
import {
  type Apis,
  asleep,
  EXTENSION,
  eventually,
  inControlPlane,
  inFlux,
  inProject,
  PROJECT,
  PUSH_URL,
  type Stage,
  startStage,
  untilLogged,
} from '../scenarios/stage.ts';
import { documented } from './documents.ts';
import { ownDistribution, startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const repositoryUrl = 'https://git.example.com/Org/fleet.git';
const pushed = {
  ref: 'refs/heads/main',
  repository: { clone_url: 'https://git.example.com/org/fleet', name: 'fleet' },
};

let apis: Apis;
let stage: Stage;
let product: Product;
let ca = '';

beforeEach(async () => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'push-'));
  const [certFile, keyFile] = [join(temporary.path, 'tls.crt'), join(temporary.path, 'tls.key')];
  const { serving, authorities } = await renewed(undefined, ['127.0.0.1'], new Date());
  await Promise.all([writeFile(certFile, serving.cert), writeFile(keyFile, serving.key)]);
  ca = authorities.map(({ cert }) => cert).join('');
  apis = await startApisWithShippedRights();
  stage = await startStage(apis, ownDistribution);
  const options = stage.productOptions();
  product = await startProduct({
    ...options,
    webhooks: { port: 0, hosts: [], certificate: { certFile, keyFile }, functions: [], takesPushes: true },
  });
  await eventually(
    'the certificate',
    () => call('/healthz').catch(() => undefined),
    (answer) => answer !== undefined,
  );
});
afterEach(async () => {
  await product?.stop();
  await stage?.[Symbol.asyncDispose]();
  await apis?.stop();
});

async function call(path: string, body: string | Buffer = '', headers: Record<string, string> = {}, method = 'POST') {
  const outgoing = request({ host: '127.0.0.1', port: product.webhookPort, path, method, ca, headers });
  outgoing.end(body);
  const [response] = await once(outgoing, 'response');
  return { status: response.statusCode as number, body: await text(response) };
}

const sign = (token: string, body: string) => createHmac('sha256', token).update(body).digest('hex');

/** Posts what GitHub posts. */
function push(token: string, payload: object = pushed, namespace = PROJECT) {
  const body = JSON.stringify(payload);
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${sign(token, body)}` };
  return call(`/push/${namespace}`, body, headers);
}

interface Secret extends KubeObject {
  data?: Record<string, string>;
}

const flux = () => stage.garden.find<Secret>(resources.secrets, inProject('flux-push'));

/** A project that takes pushes. @returns the token */
async function switchedOn(data: Record<string, string> = {}): Promise<string> {
  await stage.setFluxConfig({ repositoryUrl, repositoryBranch: 'main', push: 'true', ...data });
  const secret = await eventually('the token', flux, (live) => live?.data?.token !== undefined);
  return Buffer.from(secret?.data?.token ?? '', 'base64').toString();
}

const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt';
const requestedAt = async (name = 'main-gitrepo') =>
  (await stage.inShoot(gitRepositories, name))?.metadata.annotations?.[REQUESTED_AT];
const untilRequested = (before?: string) =>
  eventually(
    'the request',
    () => requestedAt(),
    (at) => at !== before && at !== undefined,
  );
const notedPushes = () =>
  stage.requests.filter(({ identity, method }) => identity === 'push-webhook' && method === 'PATCH').length;

/** A GitRepository that a person has made. */
const source = (name: string, url: string, suspend = false): KubeObject => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1',
  kind: 'GitRepository',
  metadata: inFlux(name),
  spec: { url, interval: '1h', suspend },
});

describe('a push', () => {
  it('has the sources of its repository in the Shoots fetch, and no others, whichever Git host reports it', async () => {
    const token = await switchedOn();
    await stage.deliver();
    for (const object of [
      source('same', 'ssh://git@git.example.com:7999/org/fleet'),
      source('asleep', repositoryUrl, true),
      source('other', 'https://git.example.com/org/other'),
    ]) {
      await stage.shoot.create(gitRepositories, object, { fieldManager: 'person' });
    }
    await stage.quiet();
    expect(await requestedAt()).toBeUndefined();
    const json = JSON.stringify(pushed);
    const form = new URLSearchParams({ payload: json }).toString();
    const gitlab = JSON.stringify({ project: { git_ssh_url: 'git@git.example.com:org/fleet.git' } });
    const calls: [string, Record<string, string>][] = [
      [json, { 'x-hub-signature-256': `sha256=${sign(token, json)}` }],
      [
        form,
        { 'x-hub-signature-256': `sha256=${sign(token, form)}`, 'content-type': 'application/x-www-form-urlencoded' },
      ],
      [gitlab, { 'x-gitlab-token': token }],
      [json, { 'x-gitea-signature': sign(token, json) }],
      [json, { 'x-signature': `sha256=${sign(token, json)}` }],
    ];
    let before: string | undefined;
    for (const [body, headers] of calls) {
      expect(await call(`/push/${PROJECT}`, body, headers)).toMatchObject({ status: 202 });
      before = await untilRequested(before);
      await stage.quiet();
    }
    expect(await requestedAt('same')).toBe(before);
    expect(await requestedAt('asleep')).toBeUndefined();
    expect(await requestedAt('other')).toBeUndefined();
    expect(await push(token, { anything: true })).toMatchObject({ status: 202 });
    await eventually(
      'the request to all',
      () => requestedAt('other'),
      (at) => at !== undefined,
    );
    expect(await requestedAt('asleep')).toBeUndefined();
    expect(stage.logLines.join('')).not.toContain(token);
  });

  it('is refused in the same words for a wrong signature, a project that takes none, and one that does not exist', async () => {
    const token = await switchedOn();
    await stage.quiet();
    const body = JSON.stringify(pushed);
    const right = sign(token, body);
    const refusals = [
      await push('another-token-that-is-long-enough'),
      await push(token, pushed, 'garden-none'),
      await push(token, pushed, 'garden'),
      await push(''),
      await call(`/push/${PROJECT}`, `${body} `, { 'x-hub-signature-256': `sha256=${right}` }),
      await call(`/push/${PROJECT}`, body, { 'x-gitlab-token': right }),
      await call(`/push/${PROJECT}`, body),
    ];
    await switchedOn({ push: 'false' });
    refusals.push(await push(token));
    expect(new Set(refusals.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ status: 401, body: refusals[0]?.body })]),
    );
    for (const path of ['/push/', '/push/Garden', `/push/${PROJECT}/x`, `/push/${PROJECT}%2f`, '/admission']) {
      expect(await call(path, body)).toMatchObject({ status: 404 });
    }
    expect(await call(`/push/${PROJECT}`, '', {}, 'GET')).toMatchObject({ status: 401 });
    const large = 'x'.repeat(1024 * 1024 + 1);
    expect(await call(`/push/${PROJECT}`, large, { 'x-gitlab-token': token })).toMatchObject({ status: 413 });
    const chunked = { 'x-gitlab-token': token, 'transfer-encoding': 'chunked' };
    expect(await call(`/push/${PROJECT}`, large, chunked)).toMatchObject({ status: 413 });
    expect(notedPushes()).toBe(0);
  });

  it('that follows others, or is replayed, waits for its turn: the sources fetch at most once in five seconds', async () => {
    const token = await switchedOn();
    await stage.deliver();
    await stage.quiet();
    const seen = new Set<string>();
    const watching = new AbortController();
    const { resourceVersion } = await stage.shoot.list(gitRepositories);
    const watch = (async () => {
      const options = { resourceVersion, timeoutSeconds: 600, signal: watching.signal };
      for await (const { object } of stage.shoot.watch(gitRepositories, options)) {
        const value = object.metadata.annotations?.[REQUESTED_AT];
        if (value !== undefined) seen.add(value);
      }
    })().catch(() => {});
    for (let count = 0; count < 40; count += 1) expect(await push(token)).toMatchObject({ status: 202 });
    const last = (await flux())?.metadata.annotations?.['flux.extensions.gardener.cloud/pushed']?.split(' ')[0] ?? '';
    await eventually('the last one', requestedAt, (at) => at !== undefined && at >= last);
    watching.abort();
    await watch;
    const times = [...seen].sort().map((text) => Date.parse(text));
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.filter((pause) => pause < 4_900)).toEqual([]);
    expect(notedPushes()).toBeLessThan(40);
  });

  it('does nothing in a Shoot that is hibernated, and no harm in one whose API server does not answer', async () => {
    const token = await switchedOn();
    await stage.deliver();
    await stage.writeCluster(asleep);
    await stage.quiet();
    expect(await push(token)).toMatchObject({ status: 202 });
    await eventually('the fan-out', async () => stage.logLines.some((line) => line.includes('"changes":0')), Boolean);
    expect(stage.requests.filter(({ identity }) => identity === 'push')).toEqual([]);
    await stage.writeCluster();
    const kubeconfig = apis.shoot.kubeconfig().replaceAll(apis.shoot.url, 'https://127.0.0.1:1');
    await stage.putSecret('seed', inControlPlane('gardener'), { kubeconfig });
    expect(await push(token)).toMatchObject({ status: 202 });
    await untilLogged(stage, 'sources not asked');
    await untilLogged(stage, '"function":"push"', '"outcome":"done"');
    expect(
      stage.logLines.filter((line) => line.includes('"function":"push"') && line.includes('"level":"warn"')),
    ).toEqual([]);
  });

  it('costs a Shoot two requests to its seed', async () => {
    const token = await switchedOn();
    await stage.deliver();
    await stage.quiet();
    await push(token);
    await untilRequested();
    await stage.quiet();
    const requests = stage.requests.filter(({ identity }) => identity === 'push');
    expect(requests.map(({ method, cluster }) => `${method} ${cluster}`)).toEqual(['GET local', 'GET local']);
  });

  it('is not lost where a retry has replaced its cause, and asks nothing of a Shoot that is being removed', async () => {
    await stage.setFluxConfig({ repositoryUrl });
    await stage.deliver();
    await stage.quiet();
    const causes: Cause[] = [{ type: 'notBefore', notBefore: new Date().toISOString(), attempt: 1 }];
    const retry = () =>
      handler({ cluster: 'local', ...EXTENSION }, contextOf({ kube: async () => stage.seed, causes }));
    expect(await retry()).toEqual({ type: 'done' });
    const first = await requestedAt();
    expect(first).toBeDefined();
    await stage.patchStatus({ lastOperation: { type: 'Migrate' } });
    await retry();
    expect(await requestedAt()).toBe(first);
  });
});

/** Runs a command of the page as a member of the project. */
async function run(command: string): Promise<string> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'push-kubectl-'));
  const KUBECONFIG = join(temporary.path, 'kubeconfig');
  await writeFile(KUBECONFIG, apis.garden.kubeconfig());
  const line = command
    .replace('kubectl', `node ${join(import.meta.dirname, 'kubectl.ts')}`)
    .replace('garden-my-project', PROJECT);
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, KUBECONFIG } });
  return stdout;
}

describe('the token for a Git host', () => {
  it('is made once, told by its place only, and made again when the Secret is deleted, as the page says', async () => {
    await stage.setFluxConfig({ repositoryUrl });
    await run(documented('docs/howto/push.md', 'patch configmap'));
    await stage.untilEvent('PushWebhook');
    expect(await run(documented('docs/howto/push.md', 'get events'))).toContain(
      `Normal   PushWebhook   Add a webhook to your repository at the Git host: URL ${PUSH_URL}/push/${PROJECT}, content type application/json, only push events, and as its secret the value of token in Secret ${PROJECT}/flux-push.\n`,
    );
    const token = await run(documented('docs/howto/push.md', 'get secret'));
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    await switchedOn({ fluxVersion: 'v2' });
    await stage.quiet();
    expect(Buffer.from((await flux())?.data?.token ?? '', 'base64').toString()).toBe(token);
    await run(documented('docs/howto/push.md', 'delete secret'));
    const next = await eventually('another token', flux, (live) => live?.data?.token !== undefined);
    expect(next?.data?.token).not.toBe(Buffer.from(token).toString('base64'));
    expect(await push(token)).toMatchObject({ status: 401 });
  });

  it('may be of the project, but not short', async () => {
    await stage.putSecret('garden', inProject('flux-push'), { token: 'short' });
    await stage.setFluxConfig({ repositoryUrl, push: 'true' });
    const [event] = await stage.untilEvent('InvalidSecret');
    expect(event?.message).toBe(
      `Secret ${PROJECT}/flux-push: token is shorter than 16 characters; remove it to have one generated.`,
    );
    expect(await push('short')).toMatchObject({ status: 401 });
    await stage.putSecret('garden', inProject('flux-push'), { token: 'of-the-project-itself' });
    expect(await push('of-the-project-itself')).toMatchObject({ status: 202 });
  });

  it('is not made where the operators have not switched it on', async () => {
    await product.stop();
    const options = stage.productOptions();
    product = await startProduct({ ...options, settings: { ...options.settings, pushUrl: undefined } });
    await stage.setFluxConfig({ repositoryUrl, push: 'true' });
    const [event] = await stage.untilEvent('PushNotTaken');
    expect(event?.message).toBe(
      `ConfigMap ${PROJECT}/flux-config: push has no effect, because the operators of this landscape have not switched it on; remove push, or ask them to set pushUrl.`,
    );
    await stage.quiet();
    expect(await flux()).toBeUndefined();
  });
});
