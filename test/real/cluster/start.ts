import { rm } from 'node:fs/promises';
import { freePorts } from './ports.ts';
import { type Program, programFolder, type RunningProgram, startProgram } from './process.ts';
import { waitUntilReady } from './ready.ts';

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
