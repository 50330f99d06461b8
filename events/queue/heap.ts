/** An element of a heap, which knows its place in it. */
export interface Timed {
  /** When it is due. */
  at: number;
  /** Its place in the heap; -1 outside. */
  index: number;
}

/**
 * A binary heap: the first due element in constant time, additions and removals in logarithmic time, and nothing at all
 * for elements that wait.
 */
export class Heap<T extends Timed> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    item.index = this.#items.push(item) - 1;
    this.#rise(item);
  }

  /** Removes an element from wherever it is; does nothing if it is in no heap. */
  remove(item: T): void {
    const { index } = item;
    if (this.#items[index] !== item) return;
    item.index = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#place(last, index);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(item: T): void {
    for (;;) {
      const at = (item.index - 1) >> 1;
      const parent = this.#items[at];
      if (parent === undefined || parent.at <= item.at) return;
      this.#place(parent, item.index);
      this.#place(item, at);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const left = 2 * item.index + 1;
      const child = this.#earlier(this.#items[left], this.#items[left + 1]);
      if (child === undefined || child.at >= item.at) return;
      const { index } = child;
      this.#place(child, item.index);
      this.#place(item, index);
    }
  }

  #earlier(left: T | undefined, right: T | undefined): T | undefined {
    return right === undefined || (left !== undefined && left.at <= right.at) ? left : right;
  }

  #place(item: T, index: number): void {
    this.#items[index] = item;
    item.index = index;
  }
}
