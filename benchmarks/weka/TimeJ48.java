import java.io.BufferedReader;
import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;

/**
 * Times J48 on pairs of files: learn from the first, answer every row of the second.
 *
 * Arguments: passes, then training file and test file of each data set. Prints one line for each
 * data set with the milliseconds of every pass.
 */
public class TimeJ48 {
  public static void main(String[] arguments) throws Exception {
    int passes = Integer.parseInt(arguments[0]);
    int sets = (arguments.length - 1) / 2;
    Instances[] train = new Instances[sets];
    Instances[] test = new Instances[sets];
    for (int i = 0; i < sets; i++) {
      train[i] = read(arguments[1 + 2 * i]);
      test[i] = read(arguments[2 + 2 * i]);
    }
    double[][] milliseconds = new double[sets][passes];
    for (int pass = 0; pass < passes; pass++) {
      for (int i = 0; i < sets; i++) {
        long start = System.nanoTime();
        J48 tree = new J48();
        tree.buildClassifier(train[i]);
        for (int row = 0; row < test[i].numInstances(); row++) {
          tree.distributionForInstance(test[i].instance(row));
        }
        milliseconds[i][pass] = (System.nanoTime() - start) / 1e6;
      }
    }
    for (double[] set : milliseconds) {
      StringBuilder line = new StringBuilder();
      for (double time : set) line.append(time).append(' ');
      System.out.println(line);
    }
  }

  private static Instances read(String file) throws Exception {
    Instances rows = new Instances(new BufferedReader(new FileReader(file)));
    rows.setClassIndex(rows.numAttributes() - 1);
    return rows;
  }
}
