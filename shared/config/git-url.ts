import { quote, withoutCredentials } from './quote.ts';

const SCP = /^(?:([\w.-]+)@)?([\w.-]+):(?!\/\/)(.+)$/;

/** Converts `git@host:path`, which Flux does not accept, to `ssh://git@host/path`; returns undefined for other forms. */
export function fromScpForm(text: string): string | undefined {
  const [, user, host, path] = SCP.exec(text) ?? [];
  // Without a user it may be a misspelt scheme.
  if (user === undefined || host === undefined || path === undefined) return undefined;
  return `ssh://${user}@${host}/${path.replace(/^\/+/, '')}`;
}

/** Where the name is that of the organization, and in addresses of Bitbucket, it is no token. */
export const NAMED = /^(https?:\/\/)(?:([\w.-]+)@(?=[^/@]+\/\2\/)|[\w.-]+@(?=(?:bitbucket\.org|[^/@]+\/scm)\/))/i;

/**
 * Returns what Flux reads in place of the forms that Git hosts offer for copying; undefined for other forms. The name in
 * `https://my-org@dev.azure.com/my-org/…` is no credential: Flux would send it with an empty password, or in place of a
 * bearerToken (fluxcd/pkg `git/options.go`, `git/gogit/transport.go`).
 */
export function fromCopiedForm(text: string): string | undefined {
  return NAMED.test(text) ? text.replace(NAMED, '$1') : fromScpForm(text);
}

/**
 * Returns the URL with a port that an address in the form of scp may mean: `git@host:2222/path` is the folder 2222 there,
 * because this form has no port.
 */
export function withPort(text: string): string | undefined {
  const [, user, host, path = ''] = SCP.exec(text) ?? [];
  const isPort = user !== undefined && /^\d{2,5}\/./.test(path);
  return isPort ? withoutCredentials(`ssh://${user}@${host}:${path}`) : undefined;
}

/**
 * What stands around a URL that was copied, and other spellings of its scheme and host, with what they mean. All of them are
 * applied, in this order.
 */
const spellings: readonly (readonly [pattern: RegExp, meant: string])[] = [
  [/^\s+|\s+$/g, ''],
  [/^git\s+clone\s(?:.*\s)?((?:(?:https?|ssh|git):\/\/|[\w.-]+@[\w.-]+:)\S+).*$/, '$1'],
  [/^["'`<(“‘](.*)["'`>)”’]$/, '$1'],
  // Terraform, pip and the protocol without a login, which most hosts have switched off.
  [/^git(?:::|\+(?=https?:|ssh:))/, ''],
  [/^git:\/\//, 'https://'],
  [/^(?=(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?\/[^/\s])/i, 'https://'],
  [/^(?=git@[\w.-]+\/)/, 'ssh://'],
  [/^((?:[\w-]+\.)+[a-z]{2,}):(?!\/\/|\d+\/)(?=[^/\s]+\/)/i, 'ssh://git@$1/'],
  // The form of scp has a colon behind the host, and a URL has a slash.
  [/^(\w+:\/\/(?:[^/:@]*@)?[^/:@]+):(?=\d*[^\d/][^/@]*(?:\/|$))/, '$1/'],
  // Files and the API of GitHub, and the pages of Bitbucket Server.
  [/^https?:\/\/(?:raw\.githubusercontent\.com|api\.github\.com\/repos)\/([^/]+\/[^/]+)/, 'https://github.com/$1/raw'],
  [/^(https?:\/\/.+?)\/projects\/([^/]+)\/repos\/([^/?#]+)\/(?:browse|commits|branches)[^?#]*/, '$1/scm/$2/$3.git'],
];

/** Pages of Git hosts: the repository, and what follows. A URL that ends with `.git` is none of them. */
const pages: readonly RegExp[] = [
  // A repository has exactly two names there.
  /^(\w+:\/\/(?:[^/@]*@)?(?:www\.)?(?:github\.com|bitbucket\.org|codeberg\.org|gitea\.com)\/[^/]+\/[^/@:]+)([/@:][^/].*)$/,
  // GitHub Enterprise, GitLab, Gitea and Forgejo, Azure DevOps.
  /^(\w+:\/\/(?:[^/@]*@)?github\.[^/]+\/[^/]+\/[^/]+)(\/(?:tree|blob)\/.+)$/,
  /^(\w+:\/\/.+?)\/-(\/.+)$/,
  /^(\w+:\/\/.+?)(\/src\/(?:branch|tag|commit)\/.+)$/,
  /^(\w+:\/\/.+?\/_git\/[^/]+)(\/.+)$/,
];

/** Behind a page's name come the revision and the folder. */
const PAGE = /^(?:[@:]|\/(?:tree|blob|raw|commits?|src(?:\/(?:branch|tag|commit))?)\/)/;

/** Parameters without secrets. */
const PARAMETERS = /^(?:&?(?:ref|path|version|at|depth)=[\w./%~-]*)+$/;

/** An address of a Git repository as it was meant. */
interface MeantUrl {
  url: string;
  /** What the address says besides: a revision or folder. */
  rest?: string | undefined;
}

/** Returns the URL that a text means, which is the text itself if it has no known mistake. */
export function meantUrl(text: string): MeantUrl {
  const spelt = spellings.reduce((url, [pattern, meant]) => url.replace(pattern, meant), text);
  const scheme = /^(https?|ssh)(?::\/{1,3}|;?\/\/)(?=[^/])/i.exec(spelt);
  const url = scheme === null ? spelt : `${scheme[1]?.toLowerCase()}://${spelt.slice(scheme[0].length)}`;
  return withoutRest((url === text ? undefined : fromScpForm(url)) ?? url, /^\s*git::/.test(text));
}

/**
 * Separates what is not part of a repository's URL. go-git puts query and fragment in front of the path that it asks for, so
 * no server finds the repository.
 * @param isGoGetter true: two slashes end the repository, as in Terraform; kustomize reads them so where a query follows
 */
function withoutRest(text: string, isGoGetter: boolean): MeantUrl {
  const [, base = text, end] = /^([^?#]*)[?#](.*)$/s.exec(text) ?? [];
  const [, before, folder] = /^(\w+:\/\/.*?)\/\/(.*)$/.exec(base) ?? [];
  const hasFolder = before !== undefined && (isGoGetter || end !== undefined || before.endsWith('.git'));
  const url = hasFolder ? before : base;
  const query = end !== undefined && PARAMETERS.test(end) ? end : undefined;
  const found = /\.git\/?$/.test(url) ? [] : pages.map((pattern) => pattern.exec(url));
  const [, repository = url, page = ''] = found.find((one) => one !== null) ?? [];
  const rest = [PAGE.test(page) && page.replace(PAGE, ''), hasFolder && folder, query].filter(Boolean).join(' and ');
  return { url: repository, rest: rest || undefined };
}

/** Returns the sentence for a text that means another URL. A query may contain a token. */
export function meantSentence(text: string, { url, rest }: MeantUrl): string {
  const shown = quote(text.replace(/\?.*$/s, (query) => (PARAMETERS.test(query.slice(1)) ? query : '?...')));
  const more =
    rest === undefined ? '' : `, and write ${withoutCredentials(rest)} into the fields for revision and path`;
  return `${shown} is not the URL of a Git repository; use ${withoutCredentials(url)}${more}`;
}
