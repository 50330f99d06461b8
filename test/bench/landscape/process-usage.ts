import { readFileSync } from 'node:fs';

/** Clock ticks of `/proc/<pid>/stat` in a second; Linux has had 100 on every architecture that Node.js supports. */
const TICKS = 100;

/** Returns the CPU time that a process has used, in seconds. */
export function cpuSeconds(pid: number): number {
  // The program's name, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Returns the resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
