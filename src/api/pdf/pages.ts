/** Puts blocks of known height on pages. */

export interface Block {
  readonly height: number;
  /** Does not end a page: a heading stays with the first of its lines. */
  readonly staysWithNext?: boolean;
}

/**
 * The blocks in their order, page by page. A block is never cut; a block that is higher than a page gets a separate
 * page. There is at least one page.
 */
export function paginate<Kind extends Block>(
  blocks: readonly Kind[],
  heights: { readonly first: number; readonly others: number },
): Kind[][] {
  const pages: Kind[][] = [];
  let page: Kind[] = [];
  let left = heights.first;
  for (let from = 0; from < blocks.length; ) {
    const together = chainFrom(blocks, from);
    const height = together.reduce((sum, block) => sum + block.height, 0);
    if (height > left && page.length > 0) {
      pages.push(page);
      page = [];
      left = heights.others;
    }
    page.push(...together);
    left -= height;
    from += together.length;
  }
  return [...pages, page];
}

/** A block with those that it has to stay with. */
function chainFrom<Kind extends Block>(blocks: readonly Kind[], from: number): Kind[] {
  let end = from;
  while (blocks[end]?.staysWithNext && end + 1 < blocks.length) end += 1;
  return blocks.slice(from, end + 1);
}
