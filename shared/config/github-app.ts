/** Keys of `flux-source` with which Flux authenticates as a GitHub App. */
export const GITHUB_APP_KEYS = [
  'githubAppID',
  'githubAppInstallationID',
  'githubAppInstallationOwner',
  'githubAppPrivateKey',
] as const;

/** As far as Flux can count. */
const NUMBER = /^\d{1,18}$/;

/** Flux finds a key only if its first line is a line of its own. */
const PEM = /^(?:\s*\n)?-----BEGIN (?:RSA )?PRIVATE KEY-----[ \t\r]*\n/;

/**
 * Returns why these credentials of a GitHub App cannot be used, with the remedy; never their content.
 * @param data the content as text
 */
export function githubAppProblem(data: Readonly<Record<string, string>>): string | undefined {
  const { githubAppID, githubAppInstallationID, githubAppInstallationOwner, githubAppPrivateKey } = data;
  if (githubAppID === undefined) return 'githubAppID is missing; add the ID of the GitHub App';
  if (githubAppInstallationID !== undefined && githubAppInstallationOwner !== undefined) {
    return 'has both githubAppInstallationID and githubAppInstallationOwner; remove one of them';
  }
  if (githubAppInstallationID === undefined && githubAppInstallationOwner === undefined) {
    return 'githubAppInstallationID is missing; add the ID of the installation of the GitHub App';
  }
  for (const [name, value] of Object.entries({ githubAppID, githubAppInstallationID })) {
    if (value === undefined || NUMBER.test(value)) continue;
    // Flux reads such a value as 0.
    return NUMBER.test(value.trim())
      ? `${name} has a line break or a space beside the number; write the Secret without it`
      : `${name} is not a number; copy it from the settings of the GitHub App`;
  }
  if (githubAppPrivateKey === undefined)
    return 'githubAppPrivateKey is missing; add the private key as GitHub has generated it';
  return PEM.test(githubAppPrivateKey)
    ? undefined
    : 'githubAppPrivateKey is not a private key in PEM form; add the whole file that GitHub has generated';
}
