import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fillOnce, runProgram } from './cache.ts';
import { describeTool, type Tool, type ToolName, toolNames } from './tool.ts';

/**
 * Returns the paths of the named tools, and builds those that are missing. With `KUBEBUILDER_ASSETS`, which the envtest
 * of controller-runtime uses too, kube-apiserver and etcd come from there.
 */
export async function buildTools<Name extends ToolName>(names: readonly Name[]): Promise<Record<Name, string>> {
  const paths: Partial<Record<Name, string>> = {};
  // One after the other, because a single go build keeps every core busy.
  for (const name of names) paths[name] = asset(name) ?? (await builtTool(await describeTool(name)));
  return paths as Record<Name, string>;
}

async function builtTool(tool: Tool): Promise<string> {
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(tool)];
  await fillOnce(dirname(tool.binary), (folder) =>
    go(tool, ['build', ...flags, '-o', join(folder, tool.name), tool.package]),
  );
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

/**
 * Strips symbols, which saves a third of the size. kube-apiserver gets its version only here; otherwise /version says
 * "v0.0.0-master".
 */
function linkerFlags(tool: Tool): string {
  const flags = ['-s', '-w'];
  if (tool.name === 'kube-apiserver') {
    const [major, minor] = tool.version.slice(1).split('.');
    const variables = { gitVersion: tool.version, gitMajor: major, gitMinor: minor };
    for (const [name, value] of Object.entries(variables))
      flags.push(`-X k8s.io/component-base/version.${name}=${value}`);
  }
  return flags.join(' ');
}

async function go(tool: Tool, args: string[]): Promise<void> {
  // Neither a C compiler nor a go.work in a parent folder must affect the binaries.
  const variables = { CGO_ENABLED: '0', GOWORK: 'off' };
  await runProgram('go', args, tool.folder, variables).catch((error: Error) => {
    throw new Error(error.message.includes('ENOENT') ? goIsMissing(tool) : error.message);
  });
}

function goIsMissing(tool: Tool): string {
  const assets = tool.name === 'kube-apiserver' || tool.name === 'etcd';
  const other = assets ? ' or set KUBEBUILDER_ASSETS to a folder that holds etcd and kube-apiserver' : '';
  return `${tool.name} ${tool.version} has to be built and there is no Go: install Go 1.26${other}.`;
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
