import { parse } from 'yaml';
import { documents, example } from '../../../integration/documents.ts';
import { PROJECT, SEED } from '../../../scenarios/stage.ts';

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

/** The page's kubeconfig without a user. */
export const addressExample = example(PAGE, 'Config');

/** The environment of the watcher on the page, and the audience of its projected token. */
export function watcherOfPage(): { environment: Record<string, string>; tokenPath: string; audience: string } {
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
