/** Something that runs until it is stopped. */
export interface Controller {
  stop(): Promise<void>;
}
