import type { ConfigIssue } from '../errors.ts';
import type { Place } from './place.ts';
import type { LabelSelector } from './selected.ts';

/** A YAML document in a key of `flux-config`: its value, or what is wrong with it. */
export type YamlText = { value: unknown } | { problem: string };

/** One entry of `overrides.yaml`. */
export interface Override {
  selector: LabelSelector;
  /** Its `config`, as the user wrote it. */
  config: unknown;
  place: Place;
}

/** The entries of `overrides.yaml`, in their order, and what keeps them from being read. */
export interface Overrides {
  entries: Override[];
  /** About the list, an entry or a selector: it is unknown which Shoots it is about, so it concerns all of them. */
  issues: ConfigIssue[];
}

/** What the keys `config.yaml` and `overrides.yaml` hold; undefined: nothing. */
export interface Documents {
  config: YamlText | undefined;
  overrides: Overrides | undefined;
}
