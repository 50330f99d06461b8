import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { NAMESPACE } from '../../../../infra/webhooks/names.ts';
import { documents, example, root } from '../../../integration/documents.ts';
import { tokenOf } from '../../../scenarios/identities.ts';
import { PROJECT, SEED } from '../../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../../apis.ts';
import type { ApiServer } from '../../cluster/api-server.ts';
import { programFolder, type RunningProgram, startProgram } from '../../cluster/process.ts';
import { serviceAccountToken } from '../objects.ts';
import type { Issuer } from './issuer.ts';

const PAGE = 'docs/install-aws.md';

/** The issuer of the seed's ServiceAccount tokens, as the API servers of the tests are started. */
export const SEED_ISSUER = 'https://kubernetes.default.svc';

/** Returns commands of the page with the names of this landscape. @param issuer that of the account's tokens */
export function withNames(text: string, issuer: string): string {
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
export async function startTrustingApis(issuer: Issuer, folder: string): Promise<RealApis> {
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
export function addressOf({ url, ca }: ApiServer): string {
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
export async function startWatcher(apis: RealApis, command: string, endpoint: string): Promise<RunningProgram> {
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
    args: [join(root, 'infra/cli/main.ts'), ...args.split(' ')],
    // The only difference from AWS: where its services are.
    env: { ...Object.fromEntries(mounted), AWS_ENDPOINT_URL: endpoint },
    folder,
  });
}
