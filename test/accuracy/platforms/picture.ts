import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { browserUnavailableReason, openBrowser } from '../../support/browser.js';

const PICTURES = fileURLToPath(new URL('../../../docs/guides/pictures/', import.meta.url));
/** The report is as wide as it gets. */
const SCREEN = { width: 1_160, height: 900 };
const SCALE = 1.5;
const MARGIN = 12;

/**
 * Writes a picture of a section of a report for the guides.
 * @param name of the section, and of the picture
 * @returns the picture's path
 * @throws Error without a browser
 */
export async function writePicture(report: string, name: string): Promise<string> {
  const missing = browserUnavailableReason();
  if (missing !== undefined) throw new Error(`The picture cannot be taken: ${missing}`);
  await mkdir(PICTURES, { recursive: true });
  const file = path.join(PICTURES, `${name}.png`);
  const browser = await openBrowser();
  try {
    const page = await browser.newPage({ viewport: SCREEN, deviceScaleFactor: SCALE, colorScheme: 'light' });
    await page.goto(pathToFileURL(report).href);
    const box = await page.locator(`section[aria-labelledby="${name}"]`).boundingBox();
    if (!box) throw new Error(`The report has no section "${name}"`);
    const clip = {
      ...{ x: box.x - MARGIN, y: box.y - MARGIN },
      ...{ width: box.width + 2 * MARGIN, height: box.height + 2 * MARGIN },
    };
    await page.screenshot({ path: file, clip, fullPage: true });
  } finally {
    await browser.close();
  }
  return file;
}
