import { createPrivateKey } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { GitServer } from '@shoot-flux/landscape/git';
import { generateKeyPair, openSshKey, publicLine } from '@shoot-flux/landscape/git/keys';
import { parse as parseYaml, stringify } from 'yaml';
import { freePorts, listen } from '../cluster/ports.ts';
import { startPrivateRegistry } from '../sync/private-registry.ts';
import { ageKey, encrypted, pgpKey } from '../sync/sops.ts';
import { startTlsFront } from '../sync/tls-front.ts';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';
import { failingFolders } from './objects.ts';

/** The servers that failing objects name. */
export interface Servers {
  /** A repository with charts and folders of manifests. */
  git: { httpUrl: string; sshUrl: string };
  /** A registry with the artifact `fleet:v1` and the chart `charts/app:1.2.3`. */
  registry: string;
  /** A host behind HTTPS with an authority of its own, which answers 401. */
  front: string;
  /** Answers with the status in the path; it has charts below `/charts`. */
  web: string;
  /** A port on which nothing listens. */
  closed: string;
  /** Accepts connections, and never answers. */
  silent: string;
}

/** Running servers, and the Secrets with right and wrong credentials for them. */
export interface StartedServers extends AsyncDisposable {
  servers: Servers;
  secrets: Record<string, Record<string, string>>;
}

const PKCS8 = { type: 'pkcs8', format: 'pem' } as const;

/** What Git hosts answer to credentials that are right, but not let in. */
const REFUSALS: Record<string, string> = {
  'allow-list': 'The repository owner has an IP allow list enabled, and 203.0.113.7 is not permitted to access this.',
  'single-sign-on': "The 'org' organization has enabled or enforced SAML SSO.",
};

const SOPS = 'sops encrypt --in-place secret.yaml';
const rules = (key: string) => `creation_rules:\n  - path_regex: .*\n    encrypted_regex: ^stringData$\n    ${key}\n`;

export async function startServers(git: GitServer): Promise<StartedServers> {
  await using stack = new AsyncDisposableStack();
  const registry = stack.use(await startPrivateRegistry());
  const site = stack.use(await startChartSite(failingChart('app')));
  const front = stack.use(await startTlsFront(() => ({ status: 401 })));
  const unattended = ['--batch', '--pinentry-mode loopback', '--passphrase open'].join(' ');
  const pgp = stack.use(
    await pgpKey(
      [
        `gpg ${unattended} --quick-generate-key my-project default default never`,
        `gpg ${unattended} --armor --export-secret-keys my-project > project.asc`,
      ],
      'project.asc',
    ),
  );
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => {})));
  const listening = stack.use(await listen(silent));
  stack.defer(() => {
    for (const socket of sockets) socket.destroy();
  });
  const [closed] = await freePorts(1);
  const [key, other] = [ageKey(), ageKey()];
  const chart = Object.entries(failingChart('app')).map(([path, text]) => [`chart/${path}`, text]);
  const repository = await git.createRepository('failing', {
    ...Object.fromEntries(chart),
    ...failingFolders(),
    'plain/a.yaml': 'a: b',
    'age/a.yaml': await encrypted({ command: SOPS, rules: rules(`age: ${key.recipient}`) }, 'a', { a: 'b' }),
    'pgp/a.yaml': await encrypted({ command: SOPS, rules: rules(`pgp: ${pgp.fingerprint}`), env: pgp.env }, 'a', {
      a: 'b',
    }),
  });
  await registry.pushArtifact('fleet:v1', { 'a.yaml': 'a: b' });
  await registry.pushChart('charts', failingChart('app'));
  const { privateKey } = generateKeyPair();
  const identity = openSshKey(privateKey);
  const locked = createPrivateKey(privateKey).export({ ...PKCS8, cipher: 'aes-256-cbc', passphrase: 'open' });
  const hostKeys = { known_hosts: git.knownHosts };
  const otherHost = `${git.knownHosts.split(' ')[0]} ${publicLine(generateKeyPair().publicKey)}`;
  const wrong = JSON.stringify({ auths: { [registry.host]: { username: 'robot', password: 'wrong' } } });
  const started = stack.move();
  return {
    servers: {
      git: repository,
      registry: registry.host,
      front: front.host,
      web: site.url,
      closed: `127.0.0.1:${closed}`,
      silent: listening.host,
    },
    secrets: {
      authority: { 'ca.crt': registry.ca },
      registry: { '.dockerconfigjson': registry.dockerConfig },
      'wrong-registry': { '.dockerconfigjson': wrong },
      login: { username: 'a', password: 's3cr3t', 'ca.crt': front.ca },
      'only-password': { password: 's3cr3t' },
      'host-keys': hostKeys,
      'deploy-key': { identity, ...hostKeys },
      // With the line break that an editor adds.
      'locked-key': { identity: locked.toString(), password: 'open\n', ...hostKeys },
      proxy: { address: `http://127.0.0.1:${closed}` },
      'other-host': { identity, known_hosts: otherHost },
      cosign: { 'cosign.pub': 'no key' },
      'bad-values': { 'values.yaml': 'a: b: s3cr3t' },
      bucket: { accesskey: 'a', secretkey: 's3cr3t' },
      token: { token: 's3cr3t' },
      'other-age': { 'a.agekey': other.identity },
      'no-age': { 'a.agekey': 's3cr3t' },
      pgp: { 'a.asc': pgp.privateKey },
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The files of a chart whose value `mode` decides how it fails. */
function failingChart(name: string): Record<string, string> {
  return {
    'Chart.yaml': stringify({ apiVersion: 'v2', name, version: '1.2.3' }),
    'values.yaml': 'mode: good\nreplicas: 1\n',
    'values.schema.json': JSON.stringify({ type: 'object', properties: { replicas: { type: 'integer' } } }),
    'templates/all.yaml': template,
  };
}

const template = `
{{- if eq .Values.mode "template" }}
{{ concat .Values.mode }}
{{- else if eq .Values.mode "required" }}
a: {{ required "name is required" .Values.name }}
{{- else if eq .Values.mode "yaml" }}
a: b: c
{{- else if eq .Values.mode "kind" }}
apiVersion: example.com/v1
kind: Unknown
metadata: { name: a }
{{- else if eq .Values.mode "volume" }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: never-bound }
spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
{{- else }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
  labels: { a: {{ if eq .Values.mode "rejected" }}"b c"{{ else }}b{{ end }} }
data: { replicas: "{{ .Values.replicas }}" }
{{- end }}
`;

/**
 * A web site with a repository of charts below `/charts`, and below `/elsewhere` one whose index leads to a registry;
 * another path with a status answers with that status.
 * @param files of its chart
 */
async function startChartSite(files: Record<string, string>) {
  const { helm } = await buildTools(['helm']);
  const folder = await folderWith(files);
  const site = join(folder.path, 'charts');
  await runProgram(helm, ['package', folder.path, '--destination', site]);
  await runProgram(helm, ['repo', 'index', site]);
  const index = parseYaml(await readFile(join(site, 'index.yaml'), 'utf8')) as { entries: Record<string, object[]> };
  const urls = ['oci://registry.example.com/charts/app:1.2.3'];
  const entries = { app: index.entries.app?.map((version) => ({ ...version, urls })) };
  await mkdir(join(folder.path, 'elsewhere'));
  await writeFile(join(folder.path, 'elsewhere/index.yaml'), stringify({ ...index, entries }));
  const server = createHttpServer(async (incoming, response) => {
    incoming.resume();
    const path = new URL(incoming.url ?? '/', 'http://site').pathname;
    const status = Number(/\/([2-5]\d\d)(?:\/|$)/.exec(path)?.[1] ?? 0);
    const file = status === 0 ? await readFile(join(folder.path, path)).catch(() => undefined) : undefined;
    const refusal = Object.entries(REFUSALS).find(([name]) => path.includes(`/403/${name}`))?.[1];
    response.writeHead(status || (file === undefined ? 404 : 200), { 'content-type': 'text/plain' });
    response.end(file ?? refusal ?? '<html>A page.</html>');
  });
  const listening = await listen(server);
  return {
    url: `http://${listening.host}`,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
