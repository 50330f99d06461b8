/** Returns the least processor time in ms of several runs: another program may slow some of them down. */
export function leastCpuMs(work: () => unknown, runs = 3): number {
  const measured = Array.from({ length: runs }, () => {
    const startedAt = process.cpuUsage();
    work();
    // Linux divides the sum by what it saw at its ticks, so either part may be zero.
    const { user, system } = process.cpuUsage(startedAt);
    return (user + system) / 1000;
  });
  return Math.min(...measured);
}
