// Word lists for the generated shop: each department's products, and the words used in titles and
// descriptions. Plain data. Each list should begin with its most frequent entry.

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const DEPARTMENTS: readonly { readonly name: string; readonly goods: readonly string[] }[] = [
  { name: "Clothing", goods: list("shirt jacket trousers dress sweater skirt hoodie coat socks vest scarf") },
  { name: "Shoes", goods: list("sneakers boots sandals loafers slippers clogs pumps trainers") },
  { name: "Kitchen", goods: list("pan kettle knife mug plate bowl toaster blender grinder jug tray whisk") },
  {
    name: "Electronics",
    goods: list("headphones charger cable speaker monitor keyboard mouse adapter router"),
  },
  { name: "Furniture", goods: list("chair table shelf lamp sofa desk stool cabinet wardrobe bench bed") },
  { name: "Garden", goods: list("hose shovel planter rake pruner barrow trellis sprinkler bucket") },
  { name: "Sports", goods: list("backpack tent racket helmet gloves mat bottle kayak dumbbell rope") },
  { name: "Toys", goods: list("puzzle doll blocks train kite robot plush game drum") },
  { name: "Beauty", goods: list("cream shampoo soap perfume brush lotion serum mask balm") },
  { name: "Tools", goods: list("drill hammer saw wrench screwdriver pliers ladder clamp sander chisel") },
  { name: "Office", goods: list("notebook pen folder stapler paper binder printer marker envelope") },
  { name: "Pets", goods: list("leash collar basket feeder scratcher aquarium kennel brush litter") },
];

export const QUALITIES = list(`
  classic compact light premium slim soft waterproof portable large small warm modern vintage heavy folding adjustable
  wireless organic double mini outdoor quiet round sturdy elegant flexible insulated magnetic deluxe breathable basic
  quick padded reversible rugged seamless stackable smart thermal universal`);

export const MATERIALS = list(
  "cotton leather steel wood wool plastic glass linen ceramic bamboo aluminium rubber silk denim copper nylon oak",
);

export const COLOURS = list("black white grey navy green red blue sand rust yellow plum pink");

export const SIZES = list("S M L XL XXL");

export const UNITS = list("cm ml l kg g W mm pcs");

/** Words that make up most of any text, most frequent first. */
export const FREQUENT_WORDS = list(`
  the and with for of a to in is this your or from it on are you by that all can be as an made use has not which easy
  any at set every only color size will our more one two high design quality new perfect home fits look great material
  keeps after also ideal up both each between side front out care machine washable comfortable durable strong clean
  water long wear inside top hand extra free days back dry keep protects offers features surface weight gift year
  simple everyday details inch included time non natural pocket work body air heat handle safe style travel family
  kids women men room without edge battery hold cover bottom indoor layer power grip finish fast space store fabric`);
