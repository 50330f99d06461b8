/** Returns the least processor time in ms of several runs: another program may slow some of them down. */
export function leastCpuMs(work: () => unknown, runs = 3): number {
  const measured = Array.from({ length: runs }, () => {
    const startedAt = process.cpuUsage();
    work();
    return process.cpuUsage(startedAt).user / 1000;
  });
  return Math.min(...measured);
}
