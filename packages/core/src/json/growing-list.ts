const BLOCK_LENGTH = 1024

/**
 * A list that is only added to. It keeps its items in blocks of 1024: one long array is copied each time it outgrows its
 * room, and an engine that puts large arrays aside makes that the dearest part of adding an item.
 */
export class GrowingList<Item> {
  readonly #blocks: Item[][] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  add(item: Item): void {
    let block = this.#blocks[this.#blocks.length - 1]
    if (block === undefined || block.length === BLOCK_LENGTH) {
      block = []
      this.#blocks.push(block)
    }
    block.push(item)
    this.#length++
  }

  /** The item at an index from 0 to below the length; `undefined` for any other number. */
  at(index: number): Item | undefined {
    return this.#blocks[Math.floor(index / BLOCK_LENGTH)]?.[index % BLOCK_LENGTH]
  }
}
