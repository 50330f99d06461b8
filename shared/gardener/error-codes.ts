/**
 * The only error code that we report: shown to the user and retried. A code that is not retryable puts the Shoot into
 * Failed, where all its extensions stop (rule 1.6, trap 21), and every error in this configuration can be corrected
 * while everything else keeps running.
 */
export const RETRYABLE_CONFIGURATION_PROBLEM = 'ERR_RETRYABLE_CONFIGURATION_PROBLEM';
