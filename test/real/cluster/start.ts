import { rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './ports.ts';
import { type Program, programFolder, type RunningProgram, startProgram } from './process.ts';

const pollEveryMilliseconds = 40;

/** How to start a program on ports of its own. */
export interface StartPlan {
  name: string;
  ports: number;
  /** Writes the program's files into its folder and says how to start it. */
  prepare(folder: string, ports: number[]): Promise<Omit<Program, 'name' | 'folder'>>;
  ready(folder: string, ports: number[]): Promise<boolean>;
}

/** Starts a program and waits until it is ready. */
export async function startReady(
  plan: StartPlan,
): Promise<{ program: RunningProgram; folder: string; ports: number[] }> {
  const folder = await programFolder(plan.name);
  const ports = await freePorts(plan.ports);
  let program: RunningProgram | undefined;
  try {
    program = await startProgram({ name: plan.name, folder, ...(await plan.prepare(folder, ports)) });
    await waitUntilReady(plan.name, program, () => plan.ready(folder, ports));
    return { program, folder, ports };
  } catch (error) {
    await program?.stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Waits until the check holds; fails at once when the program ends, with its last lines. */
export async function waitUntilReady(
  name: string,
  program: RunningProgram,
  check: () => Promise<boolean>,
  timeoutSeconds = 90,
): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await check())) {
    if (program.ended) throw new Error(`${name} ended while it started:\n${await program.output()}`);
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready after ${timeoutSeconds} s:\n${await program.output()}`);
    }
    await sleep(pollEveryMilliseconds);
  }
}

/** Returns whether a GET answers 200. An unreachable server is not ready. */
export function answersOk(url: string, options: { ca?: string; token?: string } = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? https.get : http.get;
    const request = get(
      url,
      {
        agent: false,
        timeout: 2000,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
        headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
