import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from './cache.ts';
import type { Tool } from './tool.ts';

const progressEverySeconds = 15;

/** Builds a tool into the cache. */
export async function goBuild(tool: Tool, progress: (line: string) => void): Promise<void> {
  const target = dirname(tool.binary);
  await mkdir(dirname(target), { recursive: true });
  // Built in a temporary file and renamed, so that no process sees an incomplete binary, and concurrent builds are harmless.
  const aside = await mkdtemp(`${target}.`);
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  const title = `${tool.name} ${tool.version}`;
  progress(`${title}: building with Go; the first time this can take some minutes`);
  const timer = setInterval(() => progress(`${title}: building, ${seconds()} s so far`), progressEverySeconds * 1000);
  try {
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(tool), '-o', join(aside, tool.name)];
    await go(tool, ['build', ...flags, tool.package]);
    await mkdir(target, { recursive: true });
    await rename(join(aside, tool.name), tool.binary);
    progress(`${title}: built in ${seconds()} s`);
  } finally {
    clearInterval(timer);
    await rm(aside, { recursive: true, force: true });
  }
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
