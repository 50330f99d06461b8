import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { buildTools } from '../tools/build.ts';
import { type AuditEntry, auditPolicy, readAuditLog } from './audit.ts';
import type { Etcd } from './etcd.ts';
import { answersOk, type RunningProgram, startReady } from './start.ts';

/** A user who can authenticate; RBAC objects say what they may do. */
export interface TokenUser {
  token: string;
  user: string;
  uid: string;
  groups?: string[];
}

/** Options of an API server. */
export interface ApiServerOptions {
  etcd: Etcd;
  /** Separates the API servers that share an etcd, for example `garden`. */
  prefix: string;
  /** Users beside the administrator. @default none */
  tokens?: TokenUser[];
  /** Whether `auditEntries` lists the requests. @default false */
  auditLog?: boolean;
  /** Further flags; a repeated one overrides, or adds to those that take a list. @default none */
  args?: string[];
}

/**
 * A running kube-apiserver. No other control-plane component runs: nothing acts on Deployments, Namespaces or owner
 * references.
 */
export interface ApiServer extends RunningProgram {
  url: string;
  /** PEM of the server's own certificate authority. */
  ca: string;
  /** Token of a member of system:masters. */
  adminToken: string;
  /** A kubeconfig as YAML. @default for the administrator */
  kubeconfig(token?: string): string;
  /** The same as a file, deleted with the server. */
  kubeconfigFile(token?: string): Promise<string>;
  /** All requests until now, without the server's own; empty unless started with `auditLog`. */
  auditEntries(): Promise<AuditEntry[]>;
}

/** Starts a kube-apiserver on loopback and waits until it is ready. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const command = (await buildTools(['kube-apiserver']))['kube-apiserver'];
  const adminToken = randomBytes(16).toString('hex');
  const admin: TokenUser = { token: adminToken, user: 'admin', uid: 'admin', groups: ['system:masters'] };
  const urlOf = (ports: number[]) => `https://127.0.0.1:${ports[0]}`;
  // kube-apiserver generates a certificate when it finds none; clients trust the file.
  const caOf = (folder: string) => readFile(join(folder, 'certificates', 'apiserver.crt'), 'utf8');

  const { program, folder, ports } = await startReady({
    name: `kube-apiserver-${options.prefix}`,
    ports: 1,
    async prepare(folder, ports) {
      await writeFile(join(folder, 'tokens.csv'), [admin, ...(options.tokens ?? [])].map(tokenLine).join(''));
      await writeFile(join(folder, 'service-account.key'), serviceAccountKey());
      await writeFile(join(folder, 'audit-policy.yaml'), auditPolicy);
      return { command, args: [...flags(options, folder, ports[0] ?? 0), ...(options.args ?? [])] };
    },
    async ready(folder, ports) {
      const ca = await caOf(folder).catch(() => undefined);
      return ca !== undefined && answersOk(`${urlOf(ports)}/readyz`, { ca, token: adminToken });
    },
  });
  const url = urlOf(ports);
  const ca = await caOf(folder);
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const kubeconfig = (token = adminToken) =>
    stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'default' },
      clusters: [{ name: 'default', cluster }],
      users: [{ name: 'default', user: { token } }],
      contexts: [{ name: 'default', context: { cluster: 'default', user: 'default' } }],
    });
  let files = 0;
  return Object.assign(program, {
    url,
    ca,
    adminToken,
    kubeconfig,
    async kubeconfigFile(token?: string) {
      const path = join(folder, `kubeconfig-${++files}.yaml`);
      await writeFile(path, kubeconfig(token), { mode: 0o600 });
      return path;
    },
    auditEntries: () => readAuditLog(join(folder, 'audit.log')),
  });
}

function flags(options: ApiServerOptions, folder: string, port: number): string[] {
  const key = join(folder, 'service-account.key');
  const audit = [
    `--audit-policy-file=${join(folder, 'audit-policy.yaml')}`,
    `--audit-log-path=${join(folder, 'audit.log')}`,
    // A rotated log would make a benchmark count too few requests.
    '--audit-log-maxsize=10240',
  ];
  return [
    `--etcd-servers=${options.etcd.url}`,
    `--etcd-prefix=/${options.prefix}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    // These plug-ins depend on controllers of a kube-controller-manager, which does not run.
    '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,Priority,ResourceQuota',
    '--endpoint-reconciler-type=none',
    ...(options.auditLog === true ? audit : []),
  ];
}

function tokenLine({ token, user, uid, groups = [] }: TokenUser): string {
  return `${token},${user},${uid},"${groups.join(',')}"\n`;
}

/**
 * Key for ServiceAccount tokens. An elliptic curve, because RSA keys take long to generate; SEC1, the only format that
 * kube-apiserver also reads as a public key.
 */
function serviceAccountKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'sec1', format: 'pem' }).toString();
}
