import { rm } from 'node:fs/promises';
import { freePorts } from './ports.ts';
import { type Program, programFolder, type RunningProgram, startProgram } from './process.ts';
import { waitUntilReady } from './ready.ts';

const attempts = 3;

/** How to start a program on ports that were free a moment ago. */
export interface StartPlan {
  name: string;
  ports: number;
  /** Writes the program's files into its folder and says how to start it. */
  prepare(folder: string, ports: number[]): Promise<Omit<Program, 'name' | 'folder'>>;
  ready(folder: string, ports: number[]): Promise<boolean>;
}

/** Starts a program and waits until it is ready. Retries once when another process has taken one of its ports. */
export async function startReady(
  plan: StartPlan,
): Promise<{ program: RunningProgram; folder: string; ports: number[] }> {
  for (let attempt = 1; ; attempt++) {
    const folder = await programFolder(plan.name);
    const ports = await freePorts(plan.ports);
    let program: RunningProgram | undefined;
    try {
      program = await startProgram({ name: plan.name, folder, ...(await plan.prepare(folder, ports)) });
      await waitUntilReady(plan.name, program, () => plan.ready(folder, ports));
      return { program, folder, ports };
    } catch (error) {
      const portTaken = program?.ended === true && (await program.output()).includes('address already in use');
      await program?.stop();
      await rm(folder, { recursive: true, force: true });
      if (!portTaken || attempt === attempts) throw error;
    }
  }
}
