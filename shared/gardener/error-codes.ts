/**
 * The only code that we give: shown to the user and tried again. Those that are not retryable put the Shoot into
 * Failed, where every extension of it stops (facts/gardener.md 1.6, trap 21), and whatever a user can get wrong here
 * can be mended while everything else runs on.
 */
export const RETRYABLE_CONFIGURATION_PROBLEM = 'ERR_RETRYABLE_CONFIGURATION_PROBLEM';
