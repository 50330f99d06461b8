/** Limits for what hangs, the same for all suites: how long a test takes depends on the machine, so no test asks for it. */
export const timeLimits = {
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 240_000 } },
};
