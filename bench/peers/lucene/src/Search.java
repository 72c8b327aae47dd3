// A query of the protocol as a query of Lucene. Every word must match in any field, the best field counts; beginnings and near
// words match with a constant score beside the word itself. All documents found are counted, and no part of a query is remembered.

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.document.DoubleField;
import org.apache.lucene.facet.FacetsCollector;
import org.apache.lucene.facet.FacetsCollectorManager;
import org.apache.lucene.facet.FacetsConfig;
import org.apache.lucene.facet.sortedset.DefaultSortedSetDocValuesReaderState;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesFacetCounts;
import org.apache.lucene.facet.sortedset.SortedSetDocValuesReaderState;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.CollectorManager;
import org.apache.lucene.search.DisjunctionMaxQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MultiCollectorManager;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortedNumericSelector;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldCollectorManager;
import org.apache.lucene.search.TopScoreDocCollectorManager;

final class Search {
  /** `words` null or empty: all documents. `facets` may be null. */
  record Query(List<Word> words, Filter filter, List<String> facets, Order sort, int limit) {}

  /** `typos`: edits that are allowed, 0 to 2; neighbours that change places are one. `prefix`: words that begin with it, too. */
  record Word(String text, int typos, boolean prefix) {}

  record Filter(String field, String equals, Double min, Double max) {}

  record Order(String field, boolean descending) {}

  /** `facets`: of each field its most frequent values. */
  record Found(long found, List<String> ids, Map<String, Map<String, Long>> facets) {}

  private static final int FACET_VALUES = 10;

  private final DirectoryReader reader;
  private final IndexSearcher searcher;
  private final Analyzer analyzer = Documents.analyzer();
  private final Map<String, Documents.Field> fields = new HashMap<>();
  private final List<String> texts = new ArrayList<>();
  private final Map<String, SortedSetDocValuesReaderState> counted = new HashMap<>();

  Search(DirectoryReader reader, List<Documents.Field> fields) throws IOException {
    this.reader = reader;
    searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    FacetsConfig facets = Documents.facetsConfig(fields);
    for (var field : fields) {
      this.fields.put(field.name(), field);
      if (field.text()) texts.add(field.name());
      if (!field.values()) continue;
      counted.put(field.name(), new DefaultSortedSetDocValuesReaderState(reader, field.facetName(), facets));
    }
  }

  int documents() {
    return reader.numDocs();
  }

  Found find(Query query) throws IOException {
    var matcher = matcher(query);
    var top = best(query);
    var counts = new LinkedHashMap<String, Map<String, Long>>();
    if (query.facets() == null || query.facets().isEmpty()) return found(searcher.search(matcher, top), counts);
    Object[] results = searcher.search(matcher, new MultiCollectorManager(top, new FacetsCollectorManager()));
    for (String name : query.facets()) counts.put(name, count(name, (FacetsCollector) results[1]));
    return found((TopDocs) results[0], counts);
  }

  private CollectorManager<?, ? extends TopDocs> best(Query query) {
    if (query.sort() == null) return new TopScoreDocCollectorManager(query.limit(), Integer.MAX_VALUE);
    var number = fields.get(query.sort().field()).numberName();
    var order = DoubleField.newSortField(number, query.sort().descending(), SortedNumericSelector.Type.MIN);
    return new TopFieldCollectorManager(new Sort(order), query.limit(), Integer.MAX_VALUE);
  }

  private org.apache.lucene.search.Query matcher(Query query) {
    var all = new BooleanQuery.Builder();
    if (query.words() == null || query.words().isEmpty()) all.add(new MatchAllDocsQuery(), Occur.MUST);
    else for (Word word : query.words()) all.add(matcher(word), Occur.MUST);
    if (query.filter() != null) all.add(matcher(query.filter()), Occur.FILTER);
    return all.build();
  }

  private org.apache.lucene.search.Query matcher(Word word) {
    var ways = new ArrayList<org.apache.lucene.search.Query>();
    for (String field : texts) {
      var term = new Term(field, analyzer.normalize(field, word.text()));
      if (word.prefix()) ways.add(new PrefixQuery(term));
      if (word.typos() > 0) {
        var constant = MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE;
        ways.add(new FuzzyQuery(term, word.typos(), 0, FuzzyQuery.defaultMaxExpansions, true, constant));
      }
      ways.add(new TermQuery(term));
    }
    return new DisjunctionMaxQuery(ways, 0);
  }

  private org.apache.lucene.search.Query matcher(Filter filter) {
    var field = fields.get(filter.field());
    if (filter.equals() != null) return new TermQuery(new Term(field.valueName(), filter.equals()));
    double min = filter.min() == null ? Double.NEGATIVE_INFINITY : filter.min();
    double max = filter.max() == null ? Double.POSITIVE_INFINITY : filter.max();
    return DoubleField.newRangeQuery(field.numberName(), min, max);
  }

  private Map<String, Long> count(String name, FacetsCollector hits) throws IOException {
    var counts = new LinkedHashMap<String, Long>();
    var top = new SortedSetDocValuesFacetCounts(counted.get(name), hits).getTopChildren(FACET_VALUES, name);
    if (top != null) for (var one : top.labelValues) counts.put(one.label, one.value.longValue());
    return counts;
  }

  private Found found(TopDocs best, Map<String, Map<String, Long>> facets) throws IOException {
    var ids = new ArrayList<String>(best.scoreDocs.length);
    for (var hit : best.scoreDocs) {
      var leaf = reader.leaves().get(ReaderUtil.subIndex(hit.doc, reader.leaves()));
      var values = leaf.reader().getBinaryDocValues(Documents.ID);
      if (values.advanceExact(hit.doc - leaf.docBase)) ids.add(values.binaryValue().utf8ToString());
    }
    return new Found(best.totalHits.value, ids, facets);
  }
}
