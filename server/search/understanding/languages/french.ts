// French words that query understanding recognises, and the sentences that tell the shopper how a query was
// understood.
import { compileLanguage } from "./language.js";

export const FRENCH = compileLanguage({
  code: "fr",
  before: {
    "<": "moins de|à moins de|pour moins de|en dessous de|sous|inférieur à|moins cher que|en-dessous de",
    "<=": "jusqu'à|jusqu’à|au plus|pas plus de",
    ">": "plus de|à plus de|au dessus de|au-dessus de|supérieur à|plus cher que",
    ">=": "au moins|pas moins de",
  },
  beforeUnit: { "<": "", "<=": "max|maximum", ">": "", ">=": "à partir de|dès|min|minimum" },
  after: {
    "<=": "ou moins|et moins|maximum|max|au plus",
    ">=": "ou plus|et plus|ou mieux|minimum|au moins|+",
  },
  between: [
    ["entre", "et"],
    ["entre", "-"],
    ["de", "à"],
  ],
  to: "à|-|et",
  about: "environ|autour de|à peu près",
  sorts: [
    [
      "moins cher|moins chère|moins chers|moins chères|le moins cher|la moins chère|les moins chers|les moins chères|prix le plus bas|prix croissant|au meilleur prix",
      "price",
      false,
    ],
    [
      "plus cher|plus chère|plus chers|plus chères|le plus cher|la plus chère|les plus chers|les plus chères|prix décroissant|prix le plus élevé",
      "price",
      true,
    ],
    [
      "plus récent|plus récente|plus récents|plus récentes|le plus récent|la plus récente|les plus récents|les plus récentes|nouveautés|dernières nouveautés",
      "date",
      true,
    ],
    ["plus ancien|plus ancienne|plus anciens|plus anciennes", "date", false],
    [
      "mieux noté|mieux notée|mieux notés|mieux notées|le mieux noté|la mieux notée|les mieux notés|les mieux notées|meilleures notes|meilleure note",
      "rating",
      true,
    ],
    ["moins bien noté|moins bien notée|moins bien notés|moins bien notées", "rating", false],
    [
      "plus populaire|plus populaires|le plus populaire|les plus populaires|meilleures ventes|plus vendu|plus vendus|plus vendue|plus vendues|les plus vendus",
      "popularity",
      true,
    ],
  ],
  ofAll: "du monde|au monde|de tous les temps|de l'histoire",
  without: "sans|sauf|hors",
  not: "pas de|pas",
  lacking: "sans {n}|sans aucun {n}|sans aucune {n}|exempt de {n}|exempte de {n}|exempts de {n}|zéro {n}",
  setPhrases: "sans fil|sans fils|sans contact|sans couture|sans faille|sans plomb",
  and: "et|ou|,|&",
  fillers:
    "s'il vous plaît|s'il te plaît|svp|montre moi|montrez moi|montre-moi|montrez-moi|je cherche|je recherche|je veux|je voudrais|j'aimerais|je souhaite|j'ai besoin de|j'ai besoin d'|cherche|recherche|trouve moi|avez-vous|avez vous|acheter|je veux acheter|merci",
  articles: "un|une|des|le|la|les|l|du|de",
  connectives: "à|pour|avec|en|de|d|couleur|coûtant|au|aux",
  goesWith: "pour|compatible|compatibles|comme|avec",
  names: {
    price: "prix|coût|tarif",
    rating: "note|notes|évaluation|étoiles|étoile|avis",
    date: "date|sortie|année|parution",
    popularity: "popularité|ventes",
    brand: "marque|marques|fabricant",
    colour: "couleur|couleurs",
    category: "catégorie|catégories|rayon|type",
    size: "taille|tailles|pointure",
  },
  colours:
    "noir noire noirs noires|blanc blanche blancs blanches|rouge rouges|bleu bleue bleus bleues|vert verte verts vertes|jaune jaunes|gris grise grises|marron brun brune|rose roses|orange|violet violette violets violettes|doré dorée dorés dorées|argent argenté argentée|beige beiges",
  headFirst: true,
  sentences: {
    below: "{field} inférieur à {n}",
    upTo: "{field} jusqu’à {n}",
    above: "{field} supérieur à {n}",
    from: "{field} à partir de {n}",
    between: "{field} de {n} à {m}",
    equals: "{field} : {n}",
    avoided: "avec « {n} » plus loin",
    sorted: {
      "price:up": "du moins cher au plus cher",
      "price:down": "du plus cher au moins cher",
      "rating:down": "les mieux notés d’abord",
      "rating:up": "les moins bien notés d’abord",
      "date:down": "les plus récents d’abord",
      "date:up": "les plus anciens d’abord",
      "popularity:down": "les plus populaires d’abord",
      "popularity:up": "les moins populaires d’abord",
    },
    searched: "Résultats pour « {n} »",
    browsed: "Tous les résultats",
  },
});
