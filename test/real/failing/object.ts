/** An object that its real controller cannot make Ready, and how the condition explains it. */
export interface FailingObject {
  kind: string;
  name: string;
  spec: object;
  /** Reason of the condition. */
  reason: string;
  /** A fragment of the sentence in the condition. */
  explanation: string;
}

/** The servers and Secrets that failing objects name. */
export interface Servers {
  /** A repository with charts and folders of manifests. */
  git: { httpUrl: string; sshUrl: string };
  /** A registry with the artifact `fleet:v1` and the chart `charts/app:1.2.3`. */
  registry: string;
  /** A host behind HTTPS with an authority of its own, which answers 401. */
  front: string;
  /** Answers with the status in the path; it has charts below `/charts`. */
  web: string;
  /** A port on which nothing listens. */
  closed: string;
  /** Accepts connections, and never answers. */
  silent: string;
}

export const HOUR = { interval: '1h' };
/** Names the Secret with the certificate of the authority of the registry. */
export const TRUSTED = { certSecretRef: { name: 'authority' } };
export const secretRef = (name: string) => ({ secretRef: { name } });

/** Specs with a fragment of their sentences, by name. */
type Objects = Record<string, [spec: object, explanation?: string]>;

/** Describes objects of a kind by the reasons of their conditions; those that are `ready` only serve others. */
export function failing(kind: string, reasons: Record<string, Objects>): FailingObject[] {
  return Object.entries(reasons).flatMap(([reason, objects]) =>
    Object.entries(objects).map(([name, [spec, explanation = '']]) => ({ kind, name, spec, reason, explanation })),
  );
}
