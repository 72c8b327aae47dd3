// Spanish words that query understanding recognises, and the sentences that tell the shopper how a query was
// understood.
import { compileLanguage } from "./language.js";

export const SPANISH = compileLanguage({
  code: "es",
  before: {
    "<": "menos de|por menos de|a menos de|por debajo de|debajo de|inferior a|más barato que|más baratos que",
    "<=": "hasta|como máximo|no más de|a lo sumo",
    ">": "más de|por más de|por encima de|encima de|superior a|más caro que",
    ">=": "al menos|como mínimo|por lo menos|no menos de",
  },
  beforeUnit: { "<": "", "<=": "máximo|max|máx", ">": "", ">=": "desde|a partir de|mínimo|min|mín" },
  after: {
    "<=": "o menos|y menos|como máximo|máximo",
    ">=": "o más|y más|o mejor|como mínimo|mínimo|+",
  },
  between: [
    ["entre", "y"],
    ["entre", "-"],
    ["de", "a"],
    ["desde", "hasta"],
  ],
  to: "a|-|y",
  about: "alrededor de|unos|aproximadamente|cerca de",
  sorts: [
    [
      "más barato|más barata|más baratos|más baratas|el más barato|la más barata|los más baratos|las más baratas|más económico|más económica|más económicos|más económicas|precio más bajo|menor precio|mejor precio",
      "price",
      false,
    ],
    [
      "más caro|más cara|más caros|más caras|el más caro|la más cara|los más caros|las más caras|mayor precio|precio más alto",
      "price",
      true,
    ],
    [
      "más nuevo|más nueva|más nuevos|más nuevas|más reciente|más recientes|el más nuevo|los más nuevos|lo más nuevo|últimas novedades|novedades",
      "date",
      true,
    ],
    ["más antiguo|más antigua|más antiguos|más antiguas", "date", false],
    [
      "mejor valorado|mejor valorada|mejor valorados|mejor valoradas|mejor puntuado|mejor puntuada|mejor puntuados|mejor puntuadas|mejor calificado|mejor calificada|mejor calificados|mejor calificadas|mejores valoraciones|mejores opiniones",
      "rating",
      true,
    ],
    ["peor valorado|peor valorada|peor valorados|peor valoradas", "rating", false],
    [
      "más popular|más populares|más vendido|más vendida|más vendidos|más vendidas|los más vendidos|las más vendidas",
      "popularity",
      true,
    ],
  ],
  ofAll: "del mundo|en el mundo|de todos los tiempos|de la historia",
  without: "sin|excepto|salvo",
  not: "no",
  lacking: "sin {n}|libre de {n}|libres de {n}|no contiene {n}|cero {n}",
  setPhrases: "sin hilos|sin contacto|sin costuras|sin límite",
  and: "y|e|o|,|&",
  fillers:
    "por favor|muéstrame|muestrame|enséñame|busco|estoy buscando|buscando|quiero|quiero comprar|quisiera|me gustaría|necesito|buscar|comprar|tienen|tenéis|gracias",
  articles: "un|una|unos|unas|el|la|los|las|lo",
  connectives: "por|con|de|en|a|color|para|que|del",
  goesWith: "para|compatible|compatibles|como|con",
  names: {
    price: "precio|precios|coste|costo",
    rating: "valoración|valoraciones|puntuación|estrellas|estrella|calificación",
    date: "fecha|año|lanzamiento",
    popularity: "popularidad|ventas",
    brand: "marca|marcas|fabricante",
    colour: "color|colores",
    category: "categoría|categorías|tipo",
    size: "talla|tallas|tamaño",
  },
  colours:
    "negro negra negros negras|blanco blanca blancos blancas|rojo roja rojos rojas|azul azules|verde verdes|amarillo amarilla amarillos amarillas|gris grises|marrón marrones|rosa rosas|naranja|morado morada violeta|dorado dorada oro|plateado plateada plata|beige",
  headFirst: true,
  sentences: {
    below: "{field} inferior a {n}",
    upTo: "{field} hasta {n}",
    above: "{field} superior a {n}",
    from: "{field} desde {n}",
    between: "{field} de {n} a {m}",
    equals: "{field}: {n}",
    avoided: "con «{n}» más abajo",
    sorted: {
      "price:up": "primero el precio más bajo",
      "price:down": "primero el precio más alto",
      "rating:down": "primero los mejor valorados",
      "rating:up": "primero los peor valorados",
      "date:down": "primero los más nuevos",
      "date:up": "primero los más antiguos",
      "popularity:down": "primero los más populares",
      "popularity:up": "primero los menos populares",
    },
    searched: "Resultados para «{n}»",
    browsed: "Todos los resultados",
  },
});
