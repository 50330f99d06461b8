import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testData } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { findDefinitions } from '../../../infra/functions.ts';
import { serviceAccountUser } from '../../../infra/gardener/rbac.ts';
import { NAMESPACE } from '../../../infra/webhooks/names.ts';
import { documents, example, root } from '../../integration/documents.ts';
import { followPage } from '../../integration/followed-page.ts';
import { tokenOf } from '../../scenarios/identities.ts';
import { PROJECT, SEED, startStage } from '../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { requestJson } from '../cluster/request.ts';
import { programFolder, type RunningProgram, startProgram } from '../cluster/start.ts';
import { withTestData } from '../on-real-apis.ts';
import { ownEntries } from '../rights.ts';
import { type Aws, startAws } from './aws/aws.ts';
import { type Issuer, startIssuer } from './aws/issuer.ts';
import { type Lambdas, startLambdas } from './aws/lambdas.ts';
import { liveOneLife } from './life.ts';
import { registrationKinds, serviceAccountToken, userOf } from './objects.ts';
import { bringPodinfo } from './podinfo.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

/** Those that act in the life of a Shoot: pushes are off by default. */
const usedDefinitions = async () => (await definitionsWithRights()).filter(({ name }) => !name.startsWith('push'));

const ROLE = 'arn:aws:iam::123456789012:role/shoot-flux-prod-eu-central-1-';

/** The functions that reach clusters. */
const definitionsWithRights = async () =>
  (await findDefinitions()).filter(({ rights }) => rights.garden.length + rights.seed.length > 0);

withTestData('docs/install-aws.md, followed from an empty folder', () => {
  const page = followPage('docs/install-aws.md');
  const firstShoot = followPage('docs/first-shoot.md');
  let aws: Aws;
  let apis: RealApis;
  let workplace: Workplace;
  let lambdas: Lambdas;
  let watcher: RunningProgram;

  const shell = (text: string) => workplace.run(withNames(text, aws.issuer.url));
  const watch = () =>
    page.block('Watch', 2).run((text) => startWatcher(apis, withNames(text, aws.issuer.url), aws.endpoint));

  beforeAll(async () => {
    aws = await startAws();
    workplace = await makeWorkplace({
      environment: { SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off', ...aws.administrator },
      path: [aws.bin],
      release: testData('flux', 'v2.9.4'),
    });
    await page.follow('Package', shell);
    // Real API servers of a landscape have this file already when they start.
    await page.block('Clusters trust the functions', 1).run(shell);
    apis = await startTrustingApis(aws.issuer, workplace.folder);
    aws.trustKeysOf(SEED_ISSUER, async () => (await requestJson(apis.servers.seed, 'GET', '/openid/v1/jwks')) as never);
    for (const [name, place] of [
      ['garden', 'garden'],
      [SEED, 'seed'],
    ] as const) {
      await writeFile(join(workplace.folder, `${name}.kubeconfig`), apis.servers[place].kubeconfig());
      await writeFile(join(workplace.folder, `${name}.address`), addressOf(apis.servers[place]));
    }
    const issuers = await page.block('Deploy', 1).run(shell);
    expect(issuers).toContain(aws.issuer.url);
    expect(issuers).toContain(SEED_ISSUER);
    await page.block('Deploy', 2).run(shell);
    await page.block('Clusters trust the functions', 2).run(shell);
    await page.block('Clusters trust the functions', 3).run(shell);
    await page.block('Watch', 1).run(shell);
    await installCrds(apis.servers.garden, [registrationKinds]);
    await writeFile(join(workplace.folder, 'values.yaml'), 'replicaCount: 0\n');
    await page.follow('Register the extension', shell);
    lambdas = await startLambdas(aws, join(workplace.folder, '.serverless'));
    watcher = await watch();
  });

  afterAll(async () => {
    await watcher?.stop();
    await lambdas?.stop();
    await workplace?.remove();
    await apis?.stop();
    await aws?.stop();
  });

  const killOne = async () => {
    await sleep(randomInt(600));
    const running = Object.values(lambdas.services).flatMap((service) => service.instances());
    const victim = running[randomInt(running.length + 1)];
    if (victim !== undefined) return victim.kill();
    await watcher.stop();
    watcher = await watch();
  };

  it('deploys a template that matches the schemas of AWS', async () => {
    await aws.lint(join(workplace.folder, '.serverless/cloudformation-template-update-stack.json'));
  });

  it('brings podinfo into a Shoot', async () => {
    await writeFile(join(workplace.folder, 'my-shoot.kubeconfig'), apis.servers.shoot.kubeconfig());
    await using stage = await startStage({ ...apis, stop: apis.forget }, '');
    await bringPodinfo(firstShoot, stage, workplace, shell);
    await stage.leave();
    await stage.setFluxConfig(undefined);
    // No controller of namespaces runs: the next Shoot would find this one being deleted.
    const { shoot } = apis.servers;
    const path = '/api/v1/namespaces/flux-system';
    const live = (await requestJson(shoot, 'GET', path)) as object;
    await requestJson(shoot, 'PUT', `${path}/finalize`, { ...live, spec: { finalizers: [] } });
  });

  it('leads a Shoot through its life while processes are killed at random', async () => {
    await using stage = await startStage({ ...apis, stop: apis.forget }, '');
    try {
      expect(await liveOneLife(stage, killOne)).toContain('remove');
    } catch (error) {
      const outputs = Object.entries(lambdas.services).map(([name, service]) => `${name}: ${service.output()}`);
      const message = error instanceof Error ? error.message : error;
      throw new Error(`${message}\n${await watcher.output()}\n${outputs.join('\n')}`, { cause: error });
    }
  });

  it('was refused nothing by AWS, and its functions and watcher proved their identity', async () => {
    expect(aws.refused).toEqual([]);
    const proofs = (await usedDefinitions()).map(
      ({ name }) => `shoot-flux-prod-eu-central-1-${name} sts:GetWebIdentityToken`,
    );
    const watcherProof = `${serviceAccountUser('watcher')} sts:AssumeRoleWithWebIdentity`;
    expect([...aws.used]).toEqual(expect.arrayContaining([...proofs, watcherProof]));
  });

  it('was forbidden nothing by the API servers, where each function was its own user', async () => {
    const { garden, seed } = apis.servers;
    const ours = [...(await ownEntries(garden)), ...(await ownEntries(seed))];
    const forbidden = ours.filter(({ code }) => code === 403);
    expect(forbidden.map(({ user, verb, requestUri }) => `${user} ${verb} ${requestUri}`)).toEqual([]);
    const users = [...new Set(ours.map(({ user, userAgent }) => `${userAgent} ${user}`))].sort();
    const names = (await usedDefinitions()).map(({ name }) => `shoot-flux/${name} shoot-flux-aws:${name}`);
    expect(users).toEqual([...names, `shoot-flux/watcher ${serviceAccountUser('watcher')}`].sort());
  });

  it('opens a cluster only to a role of the deployment, with a token for this cluster that has not expired', async () => {
    const { garden, seed } = apis.servers;
    const seenAs = (server: typeof garden, token: string) =>
      userOf(server, token).catch((error: Error) => (error.message.includes(': 401') ? 'no user' : error.message));
    const claims = { sub: `${ROLE}keys`, aud: 'shoot-flux-prod/garden', seconds: 300 };
    const token = aws.issuer.token(claims);
    expect(await seenAs(garden, token)).toBe('shoot-flux-aws:keys');
    expect(await seenAs(seed, token)).toBe('no user');
    for (const wrong of [
      { ...claims, sub: ROLE.replace('123456789012', '999999999999') },
      { ...claims, sub: `${ROLE.replace('prod', 'test')}keys` },
      { ...claims, aud: 'shoot-flux-test/garden' },
      { ...claims, seconds: -60 },
    ]) {
      expect(await seenAs(garden, aws.issuer.token(wrong)), JSON.stringify(wrong)).toBe('no user');
    }
    await using other = await startIssuer();
    expect(await seenAs(garden, other.token(claims))).toBe('no user');
    const shoots = '/apis/core.gardener.cloud/v1beta1/shoots';
    await expect(requestJson({ ...garden, adminToken: token }, 'DELETE', shoots)).rejects.toThrow('403');
  });

  it('is upgraded and removed', async () => {
    // This version has been bundled at the start.
    await page.follow('Upgrade', (text) => shell(text.replace('npm run bundle\n', '')));
    const before = await aws.account.lambdas();
    expect(before.map(({ FunctionName }) => FunctionName)).toContain('shoot-flux-prod-keys');
    await watcher.stop();
    await lambdas.stop();
    await page.follow('Remove', shell);
    expect(await aws.account.lambdas()).toEqual([]);
    const left = await workplace.run('aws secretsmanager list-secrets; aws iam list-roles');
    expect(left).not.toContain('shoot-flux-prod');
    expect(left).not.toContain('shoot-flux/prod');
  });
});

const PAGE = 'docs/install-aws.md';

/** The issuer of the seed's ServiceAccount tokens, as the API servers of the tests are started. */
const SEED_ISSUER = 'https://kubernetes.default.svc';

/** Returns commands of the page with the names of this landscape. @param issuer that of the account's tokens */
function withNames(text: string, issuer: string): string {
  return (
    text
      .replaceAll('my-seed', SEED)
      .replaceAll('garden-my-project', PROJECT)
      .replaceAll('https://issuer.example.com', SEED_ISSUER)
      .replaceAll('https://account.tokens.example.com', issuer)
      // Fewer processes, and each of them says what it does.
      .replace(
        'osls deploy --stage prod',
        'osls deploy --stage prod --param maximumConcurrency=2 --param logLevel=debug',
      )
  );
}

/** The environment of the watcher on the page, and the audience of its projected token. */
function watcherOfPage(): { environment: Record<string, string>; tokenPath: string; audience: string } {
  const { fences = [] } = documents.find(({ path }) => path === PAGE) ?? {};
  const pod = fences.map(({ language, text }) => language === 'yaml' && parse(text)).find((found) => found?.env);
  const [mount] = pod.volumeMounts;
  const [{ serviceAccountToken }] = pod.volumes.find(({ name }: { name: string }) => name === mount.name).projected
    .sources;
  const environment = Object.fromEntries(
    pod.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );
  return {
    environment,
    tokenPath: `${mount.mountPath}/${serviceAccountToken.path}`,
    audience: serviceAccountToken.audience,
  };
}

/** Starts API servers with the authentication configurations that the page has written into a folder. */
async function startTrustingApis(issuer: Issuer, folder: string): Promise<RealApis> {
  const flagFor = async (cluster: string) => {
    const file = join(folder, `authentication-${cluster}.yaml`);
    const configuration = parse(await readFile(file, 'utf8'));
    // AWS's certificate is public, that of this issuer is not.
    configuration.jwt[0].issuer.certificateAuthority = issuer.ca;
    await writeFile(file, stringify(configuration));
    return [`--authentication-config=${file}`];
  };
  return startRealApis(undefined, { garden: await flagFor('garden'), seed: await flagFor(SEED) });
}

/** The page's kubeconfig without a user, with the address of a real cluster. */
function addressOf({ url, ca }: ApiServer): string {
  const kubeconfig = parse(example(PAGE, 'Config'));
  const [{ cluster }] = kubeconfig.clusters;
  cluster.server = url;
  cluster['certificate-authority-data'] = Buffer.from(ca).toString('base64');
  return stringify(kubeconfig);
}

/**
 * Starts the page's command for the watcher as in a Pod of the seed: with the page's environment, and with the token of
 * its ServiceAccount that a kubelet would project. In garden and seed it has the rights of the watcher.
 */
async function startWatcher(apis: RealApis, command: string, endpoint: string): Promise<RunningProgram> {
  const { garden, seed } = apis.servers;
  const { environment, tokenPath, audience } = watcherOfPage();
  const folder = await programFolder('watch');
  const options = { audiences: [audience], expirationSeconds: 600 };
  const projected = join(folder, 'token');
  await writeFile(projected, await serviceAccountToken(seed, NAMESPACE, 'shoot-flux-watcher', options));
  await writeFile(join(folder, 'garden.kubeconfig'), garden.kubeconfig(tokenOf('watcher')));
  await writeFile(join(folder, `${SEED}.kubeconfig`), seed.kubeconfig(tokenOf('watcher')));
  const mounted = Object.entries(environment).map(([name, value]) => [name, value === tokenPath ? projected : value]);
  const [, args = ''] = /^npm run shoot-flux -- (.*)$/m.exec(command) ?? [];
  return startProgram({
    name: 'watch',
    command: process.execPath,
    args: [join(root, 'infra/cli/shoot-flux.js'), ...args.split(' ')],
    // The only difference from AWS: where its services are.
    env: { ...Object.fromEntries(mounted), AWS_ENDPOINT_URL: endpoint },
    folder,
  });
}
