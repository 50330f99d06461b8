import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The components that tests take as they are; each is a folder here with its own go.mod, because their dependencies conflict. */
export const toolNames = ['etcd', 'kube-apiserver', 'manifestgen', 'kustomize-controller'] as const;

export type ToolName = (typeof toolNames)[number];

/** What is known about a tool before it is built. */
export interface Tool {
  name: ToolName;
  version: string;
  /** The folder with its go.mod. */
  folder: string;
  /** The Go package to build: the module's `tool`, else the module itself. */
  package: string;
  /** Where the binary lies once it is built; another version or another dependency is another path. */
  binary: string;
}

/** Reads a tool's go.mod; neither needs Go nor builds anything. */
export async function describeTool(name: ToolName): Promise<Tool> {
  const folder = join(import.meta.dirname, name);
  const goMod = await readFile(join(folder, 'go.mod'), 'utf8');
  // go mod tidy moves the module of a `tool` among the indirect requirements: it is the one whose path begins the tool's.
  const tool = /^tool (\S+)$/m.exec(goMod)?.[1];
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

/** Outside the checkout, so that a fresh clone does not build for minutes what this machine already has. */
function cacheFolder(): string {
  const { SHOOT_FLUX_TOOLS, XDG_CACHE_HOME } = process.env;
  return SHOOT_FLUX_TOOLS || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'shoot-flux', 'tools');
}
