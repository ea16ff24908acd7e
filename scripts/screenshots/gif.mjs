// @ts-check
import gifenc from 'gifenc';
import { PNG } from 'pngjs';

/** @typedef {{ png: Buffer, at: number }} Frame `at`: when it was taken, in ms */

const COLOURS = 127; // the transparent one is the 128th: seven bits
const TICK_MS = 70; // GIF counts hundredths of a second
const LAST_IMAGE_MS = 1_000;

/**
 * A GIF that repeats, at the speed at which its frames were taken, with at most one image each 70
 * ms. An image stores only the pixels that changed.
 * @param {Frame[]} frames of one size @returns {Uint8Array}
 */
export function gifOf(frames) {
  const images = imagesOf(frames);
  const palette = paletteOf(images.map(({ png }) => png));
  const gif = gifenc.GIFEncoder();
  /** @type {Uint8Array | undefined} */
  let shown;
  for (const { png, ms } of images) {
    const colours = gifenc.applyPalette(png.data, palette.slice(0, COLOURS));
    const changed = shown === undefined ? colours : difference(shown, colours);
    gif.writeFrame(changed, png.width, png.height, {
      ...(shown === undefined && { palette }),
      ...{ transparent: true, transparentIndex: COLOURS, dispose: 1, delay: ms },
    });
    shown = colours;
  }
  gif.finish();
  return gif.bytes();
}

/** The last frame of each tick, unless it equals the one before. @param {Frame[]} frames */
function imagesOf(frames) {
  const tickOf = (/** @type {Frame} */ { at }) => Math.floor(at / TICK_MS);
  const sorted = frames.toSorted((a, b) => a.at - b.at);
  const last = new Map(sorted.map((frame) => [tickOf(frame), frame]));
  /** @type {{ png: PNG, tick: number, ms: number }[]} */
  const images = [];
  for (const [tick, frame] of last) {
    const png = PNG.sync.read(frame.png);
    const previous = images.at(-1);
    if (previous?.png.data.equals(png.data)) continue;
    if (previous !== undefined) previous.ms = (tick - previous.tick) * TICK_MS;
    images.push({ png, tick, ms: LAST_IMAGE_MS });
  }
  return images;
}

/**
 * Colours of the first, the middle and the last image, and a place for the transparent one. @param
 * {PNG[]} images
 */
function paletteOf(images) {
  const sample = [0, 0.5, 1].map((part) => images[Math.floor(part * (images.length - 1))]);
  const data = Buffer.concat(sample.map((image) => image?.data ?? Buffer.of()));
  const palette = gifenc.quantize(data, COLOURS);
  while (palette.length <= COLOURS) palette.push([0, 0, 0]);
  return palette;
}

/**
 * The colours of `next` where they differ from `shown`, the transparent one elsewhere.
 * @param {Uint8Array} shown @param {Uint8Array} next
 */
function difference(shown, next) {
  return next.map((colour, pixel) => (colour === shown[pixel] ? COLOURS : colour));
}
