/** The part of gifenc, which comes without types, that the scripts use. */
declare module 'gifenc' {
  type Palette = number[][];
  interface FrameOptions {
    palette?: Palette;
    delay: number;
    transparent?: boolean;
    transparentIndex?: number;
    dispose?: number;
  }
  const gifenc: {
    GIFEncoder(): {
      writeFrame(index: Uint8Array, width: number, height: number, options: FrameOptions): void;
      finish(): void;
      bytes(): Uint8Array;
    };
    quantize(rgba: Uint8Array, maxColors: number): Palette;
    applyPalette(rgba: Uint8Array, palette: Palette): Uint8Array;
  };
  export default gifenc;
}
