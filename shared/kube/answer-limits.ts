/** How much of an answer is read. Each limit is checked while the answer arrives, and before it is parsed. */
export interface AnswerLimits {
  /** One object, or one item of a list, or one event of a watch, in bytes. */
  object: number;
  /** A list that is read as a whole. */
  list: number;
  /** A list that is read item by item. */
  stream: number;
  /** Items of such a list. */
  items: number;
  /** The answer to a call that failed. A longer one is not read, and only its status counts. */
  error: number;
  /**
   * Parts of one object: braces, brackets, commas and colons. Parsing costs as much as they are many: 1.5 MiB of `{},`
   * block the process for 80 ms, of nested brackets for 160 ms, of text for 2 ms. 150,000 parts stay below 30 ms.
   */
  parts: number;
  /**
   * Parts of one object that the watcher only compares. 20,000 keys of a project, each named in `managedFields`, too, are
   * 100,000 parts, and take 40 ms to parse, because each key is another one.
   */
  compared: number;
  /** True: an object with more parts is read without its oversized ones (`object-cutter.ts`), where its reader expects that. */
  cut: boolean;
}

const MIB = 1024 * 1024;

/**
 * The garden and seeds. etcd stores objects of up to 1.5 MiB; in JSON an API server writes `<`, `>` and `&` with six
 * bytes, and projects write such texts.
 */
export const clusterLimits: AnswerLimits = {
  object: 16 * MIB,
  list: 32 * MIB,
  stream: 1024 * MIB,
  items: 100_000,
  error: MIB / 4,
  parts: 150_000,
  compared: 75_000,
  cut: true,
};

/**
 * Shoots: their owners choose what aggregated APIs answer. 3 MiB are what an API server accepts as the body of a request.
 */
export const shootLimits: AnswerLimits = {
  object: 3 * MIB,
  list: 3 * MIB,
  stream: 64 * MIB,
  items: 10_000,
  error: MIB / 16,
  parts: 150_000,
  compared: 150_000,
  cut: false,
};

/** An answer that is larger waits for its turn, where a client has turns. */
export const LARGE_ANSWER = MIB / 8;

/** Returns for example `3 MiB` or `64 KiB`. */
export function sizeText(bytes: number): string {
  return bytes >= MIB ? `${bytes / MIB} MiB` : `${bytes / 1024} KiB`;
}
