import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildTools } from './build.ts';
import type { ToolName } from './tool.ts';

/** Sends requests to a tool that answers each line of JSON with one, in order, from a single process. */
export async function ask<Answer>(name: ToolName, requests: readonly object[]): Promise<Answer[]> {
  const { [name]: binary } = await buildTools([name]);
  const child = spawn(binary, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A tool that ends early reports the reason on standard error; its broken input pipe adds nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const [output, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${name} failed: ${complaints}`);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Answer);
}
