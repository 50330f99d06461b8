import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The real components that tests use. Each has its own folder and go.mod here, because their dependencies conflict. */
export const toolNames = [
  'etcd',
  'kube-apiserver',
  'kubectl',
  'manifestgen',
  'kustomize-controller',
  'source-controller',
  'helm-controller',
  'notification-controller',
  'image-reflector-controller',
  'sops',
  'helm',
  'crane',
  'kustomize',
  'actionlint',
  'knative-ingress',
  'knative-filter',
  'knative-channel_dispatcher',
] as const;

export type ToolName = (typeof toolNames)[number];

/** A tool, before it is built. */
export interface Tool {
  name: ToolName;
  version: string;
  /** The folder with its go.mod. */
  folder: string;
  /** The Go package to build: the module's `tool`, else the module itself. */
  package: string;
  /** Path of the built binary; differs for each version and set of dependencies. */
  binary: string;
}

/** Reads a tool's go.mod. Needs no Go and builds nothing. */
export async function describeTool(name: ToolName): Promise<Tool> {
  // The parts of Knative's data plane share a go.mod.
  const [folderName = name, part] = name.split(/(?<=^knative)-/);
  const folder = join(import.meta.dirname, folderName);
  const goMod = await readFile(join(folder, 'go.mod'), 'utf8');
  // go mod tidy lists the module of a `tool` as an indirect requirement: its path is a prefix of the tool's path.
  const tools = [...goMod.matchAll(/^(?:tool |\t)(\S+)$/gm)].map(([, path]) => path);
  const tool = part === undefined ? tools[0] : tools.find((path) => path?.endsWith(`/${part}`));
  const requirements = [...goMod.matchAll(/^(?:require|\t)\s*(\S+) (v\S+)/gm)];
  const wanted =
    tool === undefined ? requirements[0] : requirements.find(([, path]) => `${tool}/`.startsWith(`${path}/`));
  const version = wanted?.[2];
  if (version === undefined) throw new Error(`${folder}/go.mod requires no module of a version that could be built.`);
  const hash = createHash('sha256').update(`${process.platform}/${process.arch}\n`).update(goMod);
  for (const file of ['go.sum', 'main.go']) {
    const path = join(folder, file);
    if (existsSync(path)) hash.update(await readFile(path));
  }
  const build = `${name}-${version}-${hash.digest('hex').slice(0, 12)}`;
  return {
    name,
    version,
    folder,
    package: tool ?? '.',
    binary: join(cacheFolder(), build, name),
  };
}

/** Outside the checkout, so that a fresh clone reuses the tools of this machine. */
export function cacheFolder(): string {
  const { SHOOT_FLUX_TOOLS, XDG_CACHE_HOME } = process.env;
  return SHOOT_FLUX_TOOLS || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'shoot-flux', 'tools');
}
