import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { SEED } from '../../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../../apis.ts';
import type { ApiServer } from '../../cluster/api-server.ts';
import type { Issuer } from './issuer.ts';

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
export function addressOf({ url, ca }: ApiServer, example: string): string {
  const kubeconfig = parse(example);
  const [{ cluster }] = kubeconfig.clusters;
  cluster.server = url;
  cluster['certificate-authority-data'] = Buffer.from(ca).toString('base64');
  return stringify(kubeconfig);
}
