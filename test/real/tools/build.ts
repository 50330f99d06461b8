import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { goBuild } from './go-build.ts';
import { describeTool, type ToolName, toolNames } from './tool.ts';

/**
 * Returns the paths of the named tools, and builds those that are missing. With `KUBEBUILDER_ASSETS`, which the envtest
 * of controller-runtime uses too, kube-apiserver and etcd come from there.
 */
export async function buildTools<Name extends ToolName>(
  names: readonly Name[],
  progress: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<Record<Name, string>> {
  const paths: Partial<Record<Name, string>> = {};
  // One after the other, because a single go build keeps every core busy.
  for (const name of names) paths[name] = asset(name) ?? (await builtTool(name, progress));
  return paths as Record<Name, string>;
}

async function builtTool(name: ToolName, progress: (line: string) => void): Promise<string> {
  const tool = await describeTool(name);
  if (!existsSync(tool.binary)) await goBuild(tool, progress);
  return tool.binary;
}

function asset(name: ToolName): string | undefined {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (!assets || (name !== 'kube-apiserver' && name !== 'etcd')) return undefined;
  const path = join(assets, name);
  if (!existsSync(path))
    throw new Error(`KUBEBUILDER_ASSETS is ${assets}, which has no ${name}: correct it or unset it.`);
  return path;
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  const unknown = wanted.find((name) => !toolNames.some((known) => known === name));
  if (unknown !== undefined) {
    process.stderr.write(`Unknown tool "${unknown}". Known tools: ${toolNames.join(', ')}.\n`);
    process.exit(2);
  }
  try {
    const paths = await buildTools(toolNames.filter((name) => wanted.length === 0 || wanted.includes(name)));
    for (const [name, path] of Object.entries(paths)) process.stdout.write(`${name} ${path}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
