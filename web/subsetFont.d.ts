/** @types/subset-font lacks `keepFeatures`. */
declare module "subset-font" {
  export default function subsetFont(
    font: Buffer,
    text: string,
    options: {
      readonly targetFormat: "woff2";
      readonly variationAxes: { readonly wght: number };
      readonly keepFeatures: readonly string[];
    },
  ): Promise<Buffer>;
}
