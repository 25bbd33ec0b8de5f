/** A page of the console as somebody without a mouse uses it. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** More controls no page has before the one that is looked for. */
const TABS_MAX = 200;

export interface Keyboard {
  /** Presses Tab until the control has the focus. */
  reach(control: Locator): Promise<void>;
  /** Presses Enter on it. */
  press(control: Locator): Promise<void>;
  /** Replaces the text of the field with this label. */
  write(label: string, text: string): Promise<void>;
  /** Chooses in a select by the first letters of a choice. */
  choose(label: string, text: string): Promise<void>;
}

export function keyboardOf(page: Page): Keyboard {
  async function reach(control: Locator): Promise<void> {
    await control.waitFor();
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      if (await control.evaluate((element) => element.matches(':focus'))) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`${control} is not reached with Tab`);
  }
  return {
    reach,
    async press(control) {
      await reach(control);
      await page.keyboard.press('Enter');
    },
    async write(label, text) {
      await reach(page.getByLabel(label, { exact: true }));
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text);
    },
    async choose(label, text) {
      const select = page.getByLabel(label, { exact: true });
      await reach(select);
      await expect.poll(() => select.locator('option').allTextContents()).toContain(text);
      await page.keyboard.type(text);
      await expect.poll(() => select.locator('option:checked').textContent()).toBe(text);
    },
  };
}
