import { readFile } from 'node:fs/promises';
import { fileProblem, ShootFluxError } from '../errors.ts';
import type { Connection } from './connection.ts';
import { tokenFile } from './token-file.ts';

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Returns the namespace of the pod that this process runs in. */
export async function ownNamespace(directory = serviceAccount): Promise<string> {
  try {
    return (await readFile(`${directory}/namespace`, 'utf8')).trim();
  } catch (error) {
    throw new ShootFluxError(`cannot read ${directory}/namespace: ${fileProblem(error)}; let the pod mount it`);
  }
}

/** Returns the connection to the cluster that this pod runs in, as its ServiceAccount. */
export async function inCluster(
  environment: NodeJS.ProcessEnv = process.env,
  directory = serviceAccount,
): Promise<Connection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment;
  if (!host) throw new ShootFluxError('KUBERNETES_SERVICE_HOST is not set: this process does not run in a cluster');
  try {
    const ca = await readFile(`${directory}/ca.crt`, 'utf8');
    const address = host.includes(':') ? `[${host}]` : host;
    return { server: `https://${address}:${port}`, ca, token: tokenFile(`${directory}/token`) };
  } catch (error) {
    const remedy = 'let the pod mount its ServiceAccount token';
    throw new ShootFluxError(`cannot read ${directory}/ca.crt: ${fileProblem(error)}; ${remedy}`);
  }
}
