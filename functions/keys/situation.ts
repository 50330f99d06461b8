import type { Repository } from '../../shared/config/repository.ts';
import type { PublicKey } from '../../shared/ssh/public-key.ts';
import type { Operation } from './operation.ts';

/** All that is known about a private repository that is read over SSH. */
export interface Situation {
  namespace: string;
  landscape: string;
  repository: Repository;
  /** What the annotation on `flux-config` asks for. */
  operation?: Operation | undefined;
  /** The Secret as it is, its content as text; absent: there is none. */
  secret?: { data: Record<string, string>; annotations: Record<string, string>; immutable: boolean } | undefined;
  /** A new private key, once it was asked for. */
  identity?: string | undefined;
  /** A new private key for a rotation, once it was asked for. */
  next?: string | undefined;
  /** The key that the host shows, once it was asked for. */
  scanned?: PublicKey | 'nothing' | undefined;
}

/** What a decision may turn out to need: a key is not made, nor a host asked, before it is known to be needed. */
export type Need = 'identity' | 'next' | 'scanned';
